import { installFaults } from './harness/install-faults.js';

/** Loaded by a worker before its own program: it kills itself where its environment says. */
installFaults();
