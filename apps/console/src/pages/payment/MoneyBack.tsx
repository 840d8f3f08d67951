// Refunds, disputes, and what a human has to look at.
import type { AttentionEntry, HistoryEntry } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Time } from '../../parts/Time.tsx'
import { disputeReason } from '../disputes/disputeColumns.tsx'
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

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1).replaceAll('_', ' ')

const refundColumns = (currency: string): readonly Column<ShownRefund>[] => [
  {
    header: 'Refund',
    narrow: 'title',
    cell: ({ reason }) => sentence(reason),
    note: ({ note, failure }) =>
      [note, failure && `failed: ${failure.replaceAll('_', ' ')}`].filter(Boolean).join(' · '),
  },
  { header: 'Status', isShort: true, narrow: 'detail', cell: ({ status }) => <Badge text={status} /> },
  { header: 'Requested', narrow: 'detail', cell: ({ at }) => <Time value={at} /> },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ cents, reported }) => <Money cents={cents} currency={currency} reported={reported} />,
  },
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
  {
    header: 'Dispute',
    narrow: 'title',
    cell: ({ reason }) => disputeReason(reason),
    note: ({ evidenceDueBy }) =>
      evidenceDueBy && (
        <>
          evidence due <Time value={evidenceDueBy} />
        </>
      ),
  },
  { header: 'Status', isShort: true, narrow: 'detail', cell: ({ status }) => <Badge text={status} /> },
  { header: 'Opened', narrow: 'detail', cell: ({ at }) => <Time value={at} /> },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ cents, reported }) => <Money cents={cents} currency={currency} reported={reported} />,
  },
]
