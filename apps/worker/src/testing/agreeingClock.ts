import type { TrustedClock } from '../trustedClock.ts'

/** For tests that advance the local clock alone. */
export const agreeingClock: TrustedClock = { agrees: async () => true, isWaiting: () => false, differing: () => [] }
