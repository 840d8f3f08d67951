// What is on record about a payment beside its status, so that the same thing is not recorded for ever.
import { type Chain, isInChain } from '../chain.ts'
import type { DomainEvent } from '../messages.ts'
import type { PaymentEvent } from './events.ts'

const noticeTypes = [
  'PaymentAmountMismatch',
  'PaymentConflictDetected',
  'ProviderEventIgnored',
  'PaymentRefundRecorded',
  'PaymentDisputeRecorded',
] as const

/** An event that brings neither a status nor the end of a call. */
export type Notice = Extract<PaymentEvent, { type: (typeof noticeTypes)[number] }>

/** What a notice tells, apart from when and how it became known. */
export function noticeOf(event: Notice): string {
  return JSON.stringify([event.type, ...contentOf(event)])
}

/** Whether an event is a notice and tells what an earlier one told. */
export function isOnRecord(event: PaymentEvent, { noticed }: { readonly noticed: Chain<string> }): boolean {
  return isNotice(event) && isInChain(noticeOf(event), noticed)
}

export function isNotice(event: DomainEvent): event is Notice {
  return noticeTypes.some((type) => type === event.type)
}

function contentOf({ type, data }: Notice): readonly (string | number | null)[] {
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
