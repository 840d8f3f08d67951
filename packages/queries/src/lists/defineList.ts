// Describes lists of read models. The SQL of a list, its query parameters and its routes follow from the description.
import type { ReadModels } from '@paylog/projections/registry'
import type { OrderedValue } from '@paylog/runtime/http/cursor'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from 'kysely'
import { type Static, type TObject, type TSchema, Type } from 'typebox'

type Views = {
  readonly [Name in keyof ReadModels as Name extends `read_models.${infer View}` ? View : never]: ReadModels[Name]
}
export type View = keyof Views

/** Makes expressions of a row of a view, which queries name `item`. */
export type Item<Of extends View> = ExpressionBuilder<ReadModels & { readonly item: Views[Of] }, 'item'>

/** A condition on the rows of a view, with a value of the request. */
export type Condition<Of extends View = never> = {
  /** Values of one variant have the same text. @returns undefined for a value that does not restrict */
  variantOf(value: unknown): string | undefined
  where(value: Parameter<unknown>, variant: string): Expression<SqlBool>
  /** Never set. It carries the views that have the columns. */
  readonly of?: (view: Of) => void
}

/**
 * @param where returns the condition. A value that is part of its text, and not a parameter, must be its variant
 * @param variantOf returns undefined for a value that does not restrict
 */
export const condition = <Value, Of extends View>(
  where: (item: Item<Of>, value: Parameter<Value>, variant: string) => Expression<SqlBool>,
  variantOf: (value: Value) => string | undefined = () => '',
): Condition<Of> => ({
  variantOf: (value) => variantOf(value as Value),
  where: (value, variant) => where(expressionBuilder(), value as Parameter<Value>, variant),
})

/** A query parameter that restricts a list. */
export type Filter<Of extends View = never> = Condition<Of> & { readonly schema: TSchema }

/** @param where and `variantOf`: see `condition`, for a value that fits the schema */
export const filter = <Schema extends TSchema, Of extends View>(
  schema: Schema,
  description: string,
  where: (item: Item<Of>, value: Parameter<Static<Schema>>, variant: string) => Expression<SqlBool>,
  variantOf?: (value: Static<Schema>) => string | undefined,
): Filter<Of> => ({ schema: Type.Optional(Type.With(schema, { description })), ...condition(where, variantOf) })

/** The column that a list is ordered by. */
export type Order<Column extends string = string> = { readonly column: Column; readonly holds: OrderedValue }

export const byCreation = { created_at: { column: 'created_at', holds: 'time' } } as const

/** The fields of an item that are no columns of the view, or columns with other values. */
type Missing<Of extends View, Fields> = {
  [Name in keyof Fields]: Name extends keyof Views[Of] ? (Views[Of][Name] extends Fields[Name] ? never : Name) : Name
}[keyof Fields]

type Computed<Of extends View, Fields> = (
  item: Item<Of>,
  owner: Parameter<string>,
) => { readonly [Name in Missing<Of, Fields>]: Expression<Fields[Name]> } & {
  readonly [Name in keyof Fields]?: Expression<Fields[Name]>
}

export type Description<Of extends View, Shown extends TObject> = {
  /** Only its fields are read, so that new columns are not shown by accident. */
  readonly item: Shown
  /** The rows that an owner reads. Without it, rows have no owner: the caller must be an administrator. */
  readonly readBy?: Condition<Of>
  /** By the name of the parameter. */
  readonly filters: Readonly<Record<string, Filter<Of>>>
  /** By the value of the parameter `orderBy`. */
  readonly orders: Readonly<Record<string, Order<keyof Views[Of] & string>>>
} & ([Missing<Of, Static<Shown>>] extends [never]
  ? { readonly computed?: Computed<Of, Static<Shown>> }
  : {
      /** The fields of an item that are not columns of the view. `owner` is who reads it. */
      readonly computed: Computed<Of, Static<Shown>>
    })

/** A list of any view. */
export type List<Shown extends TObject = TObject> = {
  /** In the schema `read_models`. */
  readonly view: View
  readonly item: Shown
  readonly readBy?: Condition
  readonly filters: Readonly<Record<string, Filter>>
  readonly orders: Readonly<Record<string, Order>>
  computed(owner: Parameter<string>): Readonly<Record<string, Expression<unknown>>>
}

export function defineList<Of extends View, Shown extends TObject>(
  view: Of,
  { computed, ...description }: Description<Of, Shown>,
): List<Shown> {
  // The compiler does not resolve the conditional type before `Of` is known.
  const known = description as Omit<List<Shown>, 'view' | 'computed'>
  return { view, ...known, computed: (owner) => computed?.(expressionBuilder(), owner) ?? {} }
}
