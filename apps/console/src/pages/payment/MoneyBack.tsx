// Refunds, disputes, and what a human has to look at.
import type { AttentionEntry, HistoryEntry } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { disputesOf, refundsOf, type ShownDispute, type ShownRefund } from './moneyBack.ts'

export function Attention({ entries }: { readonly entries: readonly AttentionEntry[] }) {
  if (entries.length === 0) return null
  return (
    <Notice tone="warn" title="This payment needs attention">
      <ul>
        {entries.map(({ code, occurred_at, message }) => (
          <li key={`${code} ${occurred_at}`}>
            {message} (<code>{code}</code>, <Time value={occurred_at} />)
          </li>
        ))}
      </ul>
    </Notice>
  )
}

type Props = { readonly entries: readonly HistoryEntry[]; readonly currency: string }

/** Nothing when there are none. */
export function Refunds({ entries, currency }: Props) {
  const refunds = refundsOf(entries)
  if (refunds.length === 0) return null
  return (
    <Panel title="Refunds" isFlush>
      <DataTable caption="Refunds" columns={refundColumns(currency)} rows={refunds} rowKey={({ id }) => id} />
    </Panel>
  )
}

const refundColumns = (currency: string): readonly Column<ShownRefund>[] => [
  { header: 'Requested', cell: ({ at }) => <Time value={at} /> },
  {
    header: 'Amount',
    isNumber: true,
    cell: ({ cents, reported }) => <Money cents={cents} currency={currency} reported={reported} />,
  },
  { header: 'Status', isShort: true, cell: ({ status }) => <Badge text={status} /> },
  { header: 'Reason', cell: ({ reason, note }) => `${reason.replaceAll('_', ' ')}${note === null ? '' : `: ${note}`}` },
  { header: 'Failure', cell: ({ failure }) => failure ?? <Dash /> },
]

/** Nothing when there are none. */
export function Disputes({ entries, currency }: Props) {
  const disputes = disputesOf(entries)
  if (disputes.length === 0) return null
  return (
    <Panel title="Disputes" isFlush>
      <DataTable caption="Disputes" columns={disputeColumns(currency)} rows={disputes} rowKey={({ id }) => id} />
    </Panel>
  )
}

const disputeColumns = (currency: string): readonly Column<ShownDispute>[] => [
  { header: 'Opened', cell: ({ at }) => <Time value={at} /> },
  {
    header: 'Amount',
    isNumber: true,
    cell: ({ cents, reported }) => <Money cents={cents} currency={currency} reported={reported} />,
  },
  { header: 'Status', isShort: true, cell: ({ status }) => <Badge text={status} /> },
  { header: 'Reason', cell: ({ reason }) => reason ?? <Dash /> },
  { header: 'Evidence due', cell: ({ evidenceDueBy }) => <Time value={evidenceDueBy} /> },
]
