// Warns before money is given back that a bank may take, or took, as well.
import type { HistoryEntry, Payment } from '../../../api/apiTypes.ts'
import { formatMoney } from '../../../format/money.ts'
import { Notice } from '../../../parts/Notice.tsx'
import { disputesOf } from '../moneyBack.ts'

type Props = { readonly payment: Payment; readonly entries: readonly HistoryEntry[] }

/** Nothing without a dispute that is open or lost. */
export function DisputeWarning({ payment, entries }: Props) {
  const { dispute_status: status, currency } = payment
  if (status !== 'open' && status !== 'lost') return null
  const disputes = disputesOf(entries).filter((dispute) => dispute.status === status)
  const amounts = disputes.flatMap(({ cents }) => (cents === null ? [] : [formatMoney(cents, currency)]))
  const about = amounts.length > 0 ? ` about ${amounts.join(' and ')}` : ''
  return status === 'open' ? (
    <Notice tone="warn" role="alert" title={`The payer’s bank has opened a dispute${about}`}>
      The provider usually holds that money already. If you lose the dispute, it goes to the payer, and a refund does
      not come back.
    </Notice>
  ) : (
    <Notice tone="warn" role="alert" title={`A dispute${about} was lost`}>
      The bank has given that money to the payer already. A refund gives it a second time.
    </Notice>
  )
}
