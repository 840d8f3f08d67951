// Ids of things that have an id at a provider, and that only we give an id of ours.
import { v5 as uuidv5 } from 'uuid'

/** Must never change: recorded ids derive from it. */
const namespace = '0f0d5c1e-7d0a-5b0e-8c55-4f1f6f1b2a90'

/** The same UUID for the same parts. */
export const derivedId = (...parts: readonly string[]): string => uuidv5(JSON.stringify(parts), namespace)
