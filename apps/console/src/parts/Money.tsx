import { formatMoney } from '../format/money.ts'
import { Dash } from './Time.tsx'

/** An amount with its currency; a dash for null. @param props `cents`: minor units */
export type Reported = { readonly cents: number | null; readonly currency: string | null }

/** @param props `reported`: what the provider reported in another currency, for an amount that is null */
export function Money(props: {
  readonly cents: number | null | undefined
  readonly currency: string
  readonly reported?: Reported | undefined
}) {
  const { cents, currency, reported } = props
  if (cents === null || cents === undefined) {
    if (!reported?.currency || reported.cents === null) return <Dash />
    return <span className="money">{formatMoney(reported.cents, reported.currency)} (reported)</span>
  }
  return <span className="money">{formatMoney(cents, currency)}</span>
}
