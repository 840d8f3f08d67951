// What is on record about a payment beside its status, so that the same thing is not recorded for ever.
import { type Chain, isInChain } from '../chain.ts'
import type { DomainEvent } from '../messages.ts'
import type { PaymentEvent } from './events.ts'

const nonStatusEventTypes = [
  'PaymentAmountMismatch',
  'PaymentConflictDetected',
  'ProviderEventIgnored',
  'PaymentRefundRecorded',
  'PaymentDisputeRecorded',
] as const

/** An event that brings neither a status nor the end of a call. */
export type NonStatusEvent = Extract<PaymentEvent, { type: (typeof nonStatusEventTypes)[number] }>

/** What a notice tells, apart from when and how it became known. */
export function contentKey(event: NonStatusEvent): string {
  return JSON.stringify([event.type, ...contentFields(event)])
}

/** Whether an event is a notice and tells what an earlier one told. */
export function isDuplicate(event: PaymentEvent, { noticed }: { readonly noticed: Chain<string> }): boolean {
  return isNonStatusEvent(event) && isInChain(contentKey(event), noticed)
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
    case 'PaymentRefundRecorded':
      return [data.refund_id]
    case 'PaymentDisputeRecorded':
      return [data.dispute_id, data.dispute_status]
  }
}
