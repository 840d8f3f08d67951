// For tests: calls that start when they are made, and are given up when their own time is over.
import { createPace } from '../pacing.ts'

export const unlimitedPace = createPace({ perSecond: 0, patienceMs: 0 })
