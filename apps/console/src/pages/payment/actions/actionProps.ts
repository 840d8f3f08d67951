// What every dialog of an action gets.
import type { Payment } from '../../../api/apiTypes.ts'
import type { Payer } from '../moneyBack.ts'

export type ActionProps = {
  readonly payment: Payment
  readonly payer: Payer
  /** The revision that is shown; the action is refused if the payment changed since. */
  readonly etag: string | null
  readonly close: () => void
}
