// The views of the read models, for queries: a wrong column, or a value of a wrong type, does not compile.
import type { ReadModels } from '@paylog/projections/registry'
import { composerOf } from '@paylog/runtime/postgres/runQuery'
import type { ExpressionBuilder } from 'kysely'

/** Composes queries of the views. */
export const readModels = composerOf<ReadModels>()

/** The rows of the views. */
export type Views = {
  readonly [Name in keyof ReadModels as Name extends `read_models.${infer View}` ? View : never]: ReadModels[Name]
}
export type View = keyof Views
/** Makes expressions of a row of a view, which queries name `item`. */
export type Item<Of extends View> = ExpressionBuilder<ReadModels & { readonly item: Views[Of] }, 'item'>
