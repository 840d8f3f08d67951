// What every dialog of an action on a payment gets.
import type { HistoryEntry, Payment } from '../../../api/apiTypes.ts'

export type ActionProps = {
  readonly payment: Payment
  /** The history of the payment, from its beginning. */
  readonly entries: readonly HistoryEntry[]
  /** The revision that is shown; the action is refused if the payment changed since. */
  readonly etag: string | null
  readonly close: () => void
}
