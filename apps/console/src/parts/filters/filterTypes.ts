// The filters that a list has, and what each says in its chip.
import { decimalOf } from '../../format/money.ts'
import { periodOfInterval, periodText } from '../../format/period.ts'
import type { Zone } from '../../format/time.ts'
import type { Choice } from '../fields.tsx'
import type { NoMatch } from '../QueryTable.tsx'

/** `names`: the parameters of the URL, which are those of the API. */
export type Filter<Name extends string = string> =
  | {
      readonly kind: 'choice'
      readonly label: string
      readonly names: readonly [Name]
      readonly choices: readonly Choice[]
    }
  | {
      readonly kind: 'text'
      readonly label: string
      readonly names: readonly [Name]
      readonly placeholder?: string
      /** Says what is matched, for example that it has to be whole. */
      readonly hint?: string
      /** From what was typed to what is searched for. */
      readonly parse?: (text: string) => string
    }
  /** The first name is of the beginning, the second of the end. */
  | { readonly kind: 'period'; readonly label: string; readonly names: readonly [Name, Name] }
  /** A period as one parameter. */
  | { readonly kind: 'interval'; readonly label: string; readonly names: readonly [Name] }
  /** The names of the lowest and the highest amount, and of the currency, whose decimals they have. */
  | { readonly kind: 'amount'; readonly label: string; readonly names: readonly [Name, Name, Name] }

/** A filter for yes and no. */
export const flag = <const Name extends string>(label: string, name: Name): Filter<Name> => ({
  kind: 'choice',
  label,
  names: [name],
  choices: [
    { value: 'true', label: 'Yes' },
    { value: 'false', label: 'No' },
  ],
})

export type FilterValues<Name extends string = string> = { readonly [Key in Name]?: string | undefined }

/** The parameters by which a filter counts as set; the currency of an amount is a filter of its own. */
export const ownNames = <Name extends string>({ kind, names }: Filter<Name>): readonly Name[] =>
  kind === 'amount' ? names.slice(0, 2) : names

export const isSet = <Name extends string>(filter: Filter<Name>, values: FilterValues<Name>): boolean =>
  ownNames(filter).some((name) => values[name] !== undefined)

/** No value for any of these names. */
export const endOf = <Name extends string>(names: readonly Name[]): FilterValues<Name> =>
  Object.fromEntries(names.map((name) => [name, undefined])) as FilterValues<Name>

/**
 * For a `QueryTable`: nothing without a filter or a search, and else a way to end them all.
 * @param list `search`: the name of the search; `hint`: what is matched, and how
 */
export function noMatchOf<Name extends string>(list: {
  readonly filters: readonly Filter<Name>[]
  readonly values: FilterValues<Name>
  readonly change: (changes: FilterValues<Name>) => void
  readonly search?: Name
  readonly hint?: string
}): NoMatch | undefined {
  const { filters, values, change, search, hint } = list
  const names = [...filters.flatMap(ownNames), ...(search === undefined ? [] : [search])]
  if (names.every((name) => values[name] === undefined)) return undefined
  return { hint, clear: () => change(endOf(names)) }
}

/** What the filter lets through, in words. */
export function filterText<Name extends string>(filter: Filter<Name>, values: FilterValues<Name>, zone: Zone): string {
  const [first, second] = filter.names.map((name) => values[name])
  switch (filter.kind) {
    case 'choice':
      return filter.choices.find(({ value }) => value === first)?.label ?? first ?? ''
    case 'text':
      return first ?? ''
    case 'period':
      return periodText({ from: first, to: second }, zone)
    case 'interval':
      return periodText(periodOfInterval(first), zone)
    case 'amount':
      return amountText(first, second, values[filter.names[2]])
  }
}

function amountText(from: string | undefined, to: string | undefined, currency: string | undefined): string {
  const text = (minor: string) =>
    currency === undefined ? `${minor} in minor units` : `${decimalOf(Number(minor), currency)} ${currency}`
  if (from !== undefined && to !== undefined) return from === to ? text(from) : `${text(from)} to ${text(to)}`
  if (from !== undefined) return `at least ${text(from)}`
  return to === undefined ? '' : `at most ${text(to)}`
}
