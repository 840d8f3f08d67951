// The views of the read models, for queries: a wrong column, or a value of a wrong type, does not compile.
import type { ReadModels } from '@paylog/projections/registry'
import { composerOf } from '@paylog/runtime/postgres/runQuery'

/** Composes queries of the views. */
export const readModels = composerOf<ReadModels>()
