// Every projection that runs.
import { payments } from './payments/projection.ts'
import type { Projection } from './projection.ts'

export const projections: readonly Projection[] = [payments]
