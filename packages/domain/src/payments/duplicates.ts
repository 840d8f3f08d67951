// Events of a payment that are recorded once for their content, whichever report they come from. A state remembers the contents and the
// notifications that it has seen in chains: lists that share their beginning, because every event of a fold makes a new state.
import type { DomainEvent } from '../events.ts'
import type { PaymentEvent } from './events.ts'

/** A linked list, latest item first; `null` when empty. Appending copies nothing, so folding many events stays linear. */
export type Chain<Item> = { readonly last: Item; readonly before: Chain<Item> } | null

const nonStatusEventTypes = [
  'PaymentAmountMismatch',
  'PaymentConflictDetected',
  'ProviderEventIgnored',
  'RefundRecorded',
  'PaymentDisputeRecorded',
] as const

/** An event that neither changes the status nor records the outcome of a call. */
export type NonStatusEvent = Extract<PaymentEvent, { type: (typeof nonStatusEventTypes)[number] }>

/** Identifies the content of an event, regardless of its time and source. */
export function contentKey(event: NonStatusEvent): string {
  return JSON.stringify([event.type, ...contentFields(event)])
}

/** Whether this is a non-status event whose content is already recorded. */
export function isDuplicate(
  event: PaymentEvent,
  { recorded_content }: { readonly recorded_content: Chain<string> },
): boolean {
  return isNonStatusEvent(event) && isInChain(contentKey(event), recorded_content)
}

export function isNonStatusEvent(event: DomainEvent): event is NonStatusEvent {
  return nonStatusEventTypes.some((type) => type === event.type)
}

function contentFields({ type, data }: NonStatusEvent): readonly (string | number | null)[] {
  switch (type) {
    case 'PaymentAmountMismatch':
      return [data.provider_payment_id, data.reported_amount_cents, data.reported_currency]
    case 'PaymentConflictDetected':
      return [data.provider_payment_id, data.reported_status]
    case 'ProviderEventIgnored':
      return [data.provider_payment_id, data.reported_status, data.reason]
    case 'RefundRecorded':
      return [data.refund_id, data.provider_refund_id, data.status, data.refund_cents]
    case 'PaymentDisputeRecorded':
      return [data.dispute_id, data.provider_status, data.disputed_cents]
  }
}

export function isInChain<Item>(item: Item, chain: Chain<Item>): boolean {
  for (let link = chain; link !== null; link = link.before) if (link.last === item) return true
  return false
}
