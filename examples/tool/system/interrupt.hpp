#pragma once

namespace hindsight::tool {

/// From now on Ctrl-C and a polite request to end (SIGTERM) are remembered instead of ending the program at
/// once, so that it can finish the step and keep what it has. A second of the same kind ends it.
void remember_interrupts();

bool was_interrupted();

}  // namespace hindsight::tool
