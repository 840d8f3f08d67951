// How many rows a list has.
import { countText } from '../format/count.ts'

export type Counted = { readonly total: number; readonly total_is_exact: boolean }

/** @param props `meta` of the list's response; `one` and `many` name the rows */
export function Total(props: { readonly meta: Counted | undefined; readonly one: string; readonly many: string }) {
  const { meta, one, many } = props
  if (meta === undefined) return 'Counting'
  return meta.total_is_exact ? countText(meta.total, one, many) : `At least ${countText(meta.total, one, many)}`
}
