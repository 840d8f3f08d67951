// Folds the events of a payment into its state.
import { guestOwner, userOwner } from '../actor.ts'
import type { Fold } from '../events.ts'
import type { Subject } from '../personalData.ts'
import { attentionIn } from './attention.ts'
import { noMoney, withCharge, withDispute, withFailedRefund, withRefund } from './charges.ts'
import { clientTextsOf } from './clientTexts.ts'
import { type Chain, contentKey, isNonStatusEvent, type NonStatusEvent } from './duplicates.ts'
import type { PaymentEvent, PaymentInitiated } from './events.ts'
import {
  isAbsorbing,
  noPayment,
  noSecrets,
  type Payment,
  type PaymentState,
  type PaymentStatus,
  type RequestedCall,
} from './payment.ts'
import { type CallFailed, doneCall, failedCall, isCreateRejected, startedCall } from './providerCall.ts'

/** Ignores events before PaymentInitiated, which cannot occur: the first append expects no stream. */
export const paymentFold: Fold<PaymentState, PaymentEvent> = {
  initialState: noPayment,
  evolve(state, event) {
    if (event.type === 'PaymentInitiated') return initiated(event)
    return state.status === 'none' ? state : evolveExisting(state, event)
  },
  subjectOf: (state) => (state.status === 'none' ? null : payerOf(state)),
}

/** Whose personal data a payment holds. A payment of a session may hold that of a guest as well. */
export function payerOf({ payment_id, payer, guest_email }: Payment): Subject {
  const guest = guest_email === null ? null : guestOwner(guest_email)
  if (payer.id !== null) return { name: userOwner(payer.id), guest, email: payer.email }
  return { name: guest ?? `payment:${payment_id}`, guest: null, email: null }
}

function initiated({ data }: PaymentInitiated): Payment {
  const { occurred_at, amount_cents: _sameAsTotal, guest_name: _name, guest_phone: _phone, ...rest } = data
  return {
    ...rest,
    // Null for those that the event does not have.
    ...clientTextsOf(data),
    ...noMoney,
    status: 'pending',
    ...noSecrets,
    ...nothingToCapture,
    create: { ...startedCall(occurred_at), attempt: 1 },
    was_unknown: false,
    requested: null,
    has_unread_refunds: false,
    attention: [],
    provider_intent_id: null,
    provider_payment_id: null,
    created_at: occurred_at,
    updated_at: occurred_at,
    completed_at: null,
    report_time: null,
    seen_provider_events: null,
    recorded_content: null,
    failures: 0,
    failed_charges: [],
    reported_intent_id: null,
    approvals_reported: 0,
  }
}

const nothingToCapture = { capturable_cents: 0, awaits_capture: false }

/** An event about what the provider reported of the payment. */
type ReportEvent = Extract<
  PaymentEvent,
  { readonly data: { readonly provider_time: unknown; readonly provider_payment_id: unknown } }
>

type Ignored = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Applies the fields of any report, and the new status. */
function withReport(payment: Payment, { data }: ReportEvent, status: PaymentStatus = payment.status): Payment {
  const changed = status !== payment.status
  return {
    ...payment,
    status,
    updated_at: data.occurred_at,
    completed_at: changed && isAbsorbing(status) ? data.occurred_at : payment.completed_at,
    ...(changed && status !== 'processing' && nothingToCapture),
    ...(changed && isAbsorbing(status) && { requested: null }),
    ...(isAbsorbing(status) && noSecrets),
    provider_payment_id: data.provider_payment_id ?? payment.provider_payment_id,
    report_time: laterOf(payment.report_time, data.provider_time),
    seen_provider_events: seen(payment, data.provider_event_id),
  }
}

/** The later time. A report that counts regardless of its time may be older than the newest one. */
function laterOf(time: string | null, other: string): string {
  return time !== null && Date.parse(time) > Date.parse(other) ? time : other
}

function withNonStatusEvent(payment: Payment, event: NonStatusEvent): Payment {
  const recorded = {
    ...payment,
    seen_provider_events: seen(payment, event.data.provider_event_id),
    recorded_content: { last: contentKey(event), before: payment.recorded_content },
  }
  switch (event.type) {
    case 'ProviderEventIgnored':
      return withIgnored(recorded, event)
    case 'PaymentAmountMismatch':
    case 'PaymentConflictDetected':
      return withReceived(recorded, event.data)
    case 'RefundRecorded':
      return {
        ...recorded,
        refunds: withRefund(payment.refunds, event),
        has_unread_refunds: false,
        updated_at: event.data.occurred_at,
      }
    case 'PaymentDisputeRecorded':
      return { ...recorded, disputes: withDispute(payment.disputes, event) }
  }
}

/** Money that came in another amount, or that nobody asked for, was received too, if it is in the payment's currency. */
function withReceived(
  payment: Payment,
  report: Extract<PaymentEvent, { type: 'PaymentAmountMismatch' | 'PaymentConflictDetected' }>['data'],
): Payment {
  const { provider_payment_id, reported_amount_cents, reported_currency } = report
  if (reported_amount_cents === null || (reported_currency ?? payment.currency) !== payment.currency) return payment
  const charge = { provider_payment_id, received_cents: reported_amount_cents }
  return { ...payment, charges: withCharge(payment.charges, charge) }
}

/** What follows from a notification comes right after it, with the same id. */
const seen = ({ seen_provider_events: before }: Payment, eventId: string | null): Chain<string> =>
  eventId === null || eventId === before?.last ? before : { last: eventId, before }

function withIgnored(payment: Payment, { data }: Ignored): Payment {
  const { reason, reported_status, provider_time } = data
  // The status is not applied, but the time is: reports older than this one are stale.
  if (reason === 'regression') return { ...payment, report_time: provider_time }
  if (reported_status === 'refunded' && reason === 'tie') return { ...payment, has_unread_refunds: true }
  const isApproval = reported_status === 'processing' && (reason === 'tie' || reason === 'stale')
  return isApproval ? withApproval(payment, data) : payment
}

/** Counts a payment attempt that the provider reported as failed. */
function withFailure(payment: Payment, charge: string | null): Payment {
  const { failures, failed_charges } = payment
  return {
    ...payment,
    failures: failures + 1,
    failed_charges: charge === null ? failed_charges : [...failed_charges, charge],
  }
}

/** Counts an approval by the payer. A report with a charge is about a capture, which follows the approval. */
function withApproval(payment: Payment, { provider_event_id, provider_payment_id }: ReportEvent['data']): Payment {
  if (provider_event_id === null || provider_payment_id !== null) return payment
  return { ...payment, approvals_reported: payment.approvals_reported + 1 }
}

function evolveExisting(payment: Payment, event: Exclude<PaymentEvent, PaymentInitiated>): Payment {
  const evolved = isNonStatusEvent(event) ? withNonStatusEvent(payment, event) : evolveStatus(payment, event)
  const attention = attentionIn(event)
  return attention === null ? evolved : { ...evolved, attention: [...evolved.attention, attention] }
}

function evolveStatus(payment: Payment, event: Exclude<PaymentEvent, PaymentInitiated | NonStatusEvent>): Payment {
  switch (event.type) {
    case 'ProviderIntentCreated':
      return {
        ...payment,
        provider_intent_id: event.data.provider_intent_id,
        client_secret: event.data.client_secret,
        redirect_url: event.data.redirect_url,
        updated_at: event.data.occurred_at,
        create: { ...doneCall(payment.create.started_at), attempt: event.data.attempt },
      }
    case 'PaymentAttemptStarted':
      return {
        ...payment,
        status: 'pending',
        updated_at: event.data.occurred_at,
        create: { ...startedCall(event.data.occurred_at), attempt: event.data.attempt },
        provider_intent_id: null,
        ...noSecrets,
        reported_intent_id: null,
      }
    case 'ProviderNotificationReceived': {
      const { provider_event_id, reported_intent_id, is_foreign_intent } = event.data
      return {
        ...payment,
        seen_provider_events: seen(payment, provider_event_id),
        reported_intent_id: payment.reported_intent_id ?? (is_foreign_intent ? null : reported_intent_id),
      }
    }
    case 'PaymentActionRequired':
      return withReport(payment, event, 'pending')
    case 'PaymentProcessingStarted': {
      const { capturable_cents, awaits_capture = false } = event.data
      const processing = withApproval(withReport(payment, event, 'processing'), event.data)
      return { ...processing, capturable_cents, awaits_capture }
    }
    case 'PaymentSucceeded': {
      const { provider_payment_id, received_cents } = event.data
      const charges = withCharge(payment.charges, { provider_payment_id, received_cents })
      return { ...withReport(payment, event, 'succeeded'), charges }
    }
    case 'PaymentCancelRequested':
      return withRequest(payment, event, { call: 'cancel', reason: event.data.reason, capture_cents: null })
    case 'PaymentCaptureRequested':
      return withRequest(payment, event, { call: 'capture', reason: null, capture_cents: event.data.capture_cents })
    case 'RefundRequested':
      return {
        ...payment,
        refunds: withRefund(payment.refunds, event),
        updated_at: event.data.occurred_at,
      }
    case 'ProviderCallFailed':
      return withFailedCall({ ...payment, updated_at: event.data.occurred_at }, event.data)
    case 'PaymentCanceled':
      return withReport(payment, event, 'canceled')
    case 'PaymentAttemptFailed':
      return withFailure(withReport(payment, event, 'failed'), event.data.provider_payment_id)
  }
}

type CallRequested = Extract<PaymentEvent, { type: 'PaymentCancelRequested' | 'PaymentCaptureRequested' }>

function withRequest(
  payment: Payment,
  { data }: CallRequested,
  about: Pick<RequestedCall, 'call' | 'reason' | 'capture_cents'>,
): Payment {
  const number = (payment.requested?.number ?? 0) + 1
  return {
    ...payment,
    requested: { ...startedCall(data.occurred_at), ...about, number },
    updated_at: data.occurred_at,
  }
}

function withFailedCall(payment: Payment, failure: CallFailed): Payment {
  switch (failure.call) {
    case 'create': {
      const attempt = failure.attempt ?? payment.create.attempt
      const create = { ...failedCall(payment.create, failure), attempt }
      if (isCreateRejected(failure)) return { ...payment, create, status: 'failed', ...nothingToCapture }
      return { ...payment, create, was_unknown: payment.was_unknown || failure.outcome === 'unknown' }
    }
    case 'refund':
      return { ...payment, refunds: withFailedRefund(payment.refunds, failure) }
    default: {
      const { requested } = payment
      return requested?.call === failure.call ? { ...payment, requested: failedCall(requested, failure) } : payment
    }
  }
}
