// How many rows a list has.
import { countText } from '../format/count.ts'

/** Of the `meta` of a list. The API stops counting at ten thousand. */
export type Total = { readonly total: number; readonly total_is_exact: boolean }

/** Of a list that is loaded as a whole. */
export const totalOf = (list: { readonly data: readonly unknown[] } | undefined): Total | undefined =>
  list && { total: list.data.length, total_is_exact: true }

/** Of a list with numbered pages. */
export const pageTotal = (list: { readonly meta: { readonly total: number } } | undefined): Total | undefined =>
  list && { total: list.meta.total, total_is_exact: true }

/** @param props `one` and `many` name the rows; `meta` is undefined while they are counted */
export function ListTotal(props: { readonly meta: Total | undefined; readonly one: string; readonly many: string }) {
  const { meta, one, many } = props
  if (meta === undefined) return 'Counting'
  const count = countText(meta.total, one, many)
  return meta.total_is_exact ? count : `At least ${count}`
}
