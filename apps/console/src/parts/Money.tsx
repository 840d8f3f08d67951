import { formatMoney } from '../format/money.ts'
import { Dash } from './Time.tsx'

/** An amount with its currency; a dash for null. @param props `cents`: minor units */
export function Money({ cents, currency }: { readonly cents: number | null | undefined; readonly currency: string }) {
  if (cents === null || cents === undefined) return <Dash />
  return <span className="money">{formatMoney(cents, currency)}</span>
}
