// Refunds and disputes of a payment, folded from its history.
import type { HistoryEntry } from '../../api/apiTypes.ts'
import type { Reported } from '../../parts/Money.tsx'

export type ShownRefund = {
  readonly id: string
  readonly cents: number | null
  /** What the provider reported in another currency; the amount is then null. */
  readonly reported: Reported
  readonly status: string
  readonly reason: string
  readonly note: string | null
  readonly failure: string | null
  readonly at: string
  readonly updatedAt: string
}

export type ShownDispute = {
  readonly id: string
  readonly cents: number | null
  readonly reported: Reported
  readonly status: string
  readonly reason: string | null
  readonly evidenceDueBy: string | null
  readonly at: string
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const cents = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** An amount in another currency replaces what was known before. */
function amountOf(
  of: unknown,
  data: HistoryEntry['data'],
  before: Pick<ShownRefund, 'cents' | 'reported'> | undefined,
) {
  const currency = text(data.reported_currency)
  if (currency !== null) return { cents: null, reported: { cents: cents(data.reported_amount_cents), currency } }
  return { cents: cents(of) ?? before?.cents ?? null, reported: before?.reported ?? { cents: null, currency: null } }
}

/** @param entries in the order of the stream */
export function refundsOf(entries: readonly HistoryEntry[]): ShownRefund[] {
  const refunds = new Map<string, ShownRefund>()
  for (const { type, data, occurred_at } of entries) {
    const id = text(data.refund_id)
    if (id === null) continue
    const before = refunds.get(id)
    const fields = {
      id,
      at: before?.at ?? occurred_at,
      updatedAt: occurred_at,
      ...amountOf(data.refund_cents, data, before),
      reason: text(data.reason) ?? before?.reason ?? 'other',
      note: text(data.note) ?? before?.note ?? null,
      failure: text(data.failure_code) ?? before?.failure ?? null,
    }
    if (type === 'RefundRequested') refunds.set(id, { ...fields, status: 'pending', failure: null })
    if (type === 'RefundRecorded') refunds.set(id, { ...fields, status: text(data.status) ?? 'pending' })
    // After an unknown outcome, and while the provider throttles, the refund is still on its way.
    if (type === 'ProviderCallFailed' && before) {
      refunds.set(id, {
        ...fields,
        reason: before.reason,
        status: data.outcome === 'rejected' ? 'failed' : before.status,
      })
    }
  }
  return [...refunds.values()]
}

/** What refunds that are on their way give back; a failed one frees its amount. */
export const pendingRefunds = (entries: readonly HistoryEntry[]): number =>
  refundsOf(entries).reduce((sum, { status, cents }) => (status === 'pending' ? sum + (cents ?? 0) : sum), 0)

/** @param entries in the order of the stream */
export function disputesOf(entries: readonly HistoryEntry[]): ShownDispute[] {
  const disputes = new Map<string, ShownDispute>()
  for (const { type, data, occurred_at } of entries) {
    const id = text(data.dispute_id)
    if (type !== 'PaymentDisputeRecorded' || id === null) continue
    const before = disputes.get(id)
    disputes.set(id, {
      id,
      ...amountOf(data.disputed_cents, data, before),
      status: text(data.status) ?? before?.status ?? 'open',
      reason: text(data.reason) ?? before?.reason ?? null,
      evidenceDueBy: text(data.evidence_due_by) ?? before?.evidenceDueBy ?? null,
      at: before?.at ?? occurred_at,
    })
  }
  return [...disputes.values()]
}

export type Payer = {
  readonly userId: string | null
  readonly email: string | null
  readonly name: string | null
  readonly phone: string | null
  /** Whether the payer was forgotten. */
  readonly isErased: boolean
}

/** Who pays, as the first event says. */
export function payerOf([first]: readonly HistoryEntry[]): Payer {
  const { payer, guest_name, guest_phone, guest_email, metadata } = first?.data ?? {}
  const { id, email } = (typeof payer === 'object' && payer !== null ? payer : {}) as Record<string, unknown>
  return {
    userId: text(id),
    email: text(email) ?? text(guest_email),
    name: text(guest_name),
    phone: text(guest_phone),
    // Every payment begins with metadata, empty if the client sends none.
    isErased: metadata === null,
  }
}
