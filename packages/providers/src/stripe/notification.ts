// Stripe's notifications in our words. https://docs.stripe.com/api/events
import { DomainError } from '@paylog/domain/errors'
import { ClientObject } from '@paylog/domain/fields'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, UnixTime } from '../fields.ts'
import { notificationJson } from '../notificationJson.ts'
import type { ProviderNotification } from '../provider.ts'
import type { NotificationDetails } from './details.ts'
import { codeIn, idIn, isoTime, Maybe } from './fields.ts'
import { notificationKinds } from './notificationKinds.ts'

const stripeEvent = Compile(
  Type.Object({
    id: Code,
    type: Code,
    created: UnixTime,
    /** Set when the event is of another account that is connected to ours. */
    account: Maybe(Code),
    data: Type.Object({ object: ClientObject(), previous_attributes: Maybe(ClientObject()) }),
  }),
)

/** The second generation of events names its object and does not hold it. None of them is about what we keep. */
const thinEvent = Compile(
  Type.Object({
    id: Code,
    object: Type.Literal('v2.core.event'),
    type: Code,
    created: Type.String({ format: 'date-time' }),
    related_object: Maybe(Type.Object({ id: Code })),
  }),
)

/**
 * What a notification says. Types that we do not know are kept all the same.
 * @throws DomainError `invalid_request` when it is no event of Stripe's
 */
export function readNotification(body: Buffer): ProviderNotification {
  const { json: event } = notificationJson(body)
  if (thinEvent.Check(event)) {
    const { id, type, created, related_object } = event
    const occurred_at = new Date(created).toISOString()
    return toProviderNotification({ id, type, occurred_at, generic: null }, { object_id: related_object?.id ?? null })
  }
  if (!stripeEvent.Check(event)) {
    const [first] = stripeEvent.Errors(event)
    throw new DomainError('invalid_request', `The event is not valid: ${first?.instancePath} ${first?.message}`)
  }
  const { id, type, created, account, data } = event
  const occurred_at = isoTime(created)
  const kind = notificationKinds.get(type)
  const previous = data.previous_attributes ?? {}
  return toProviderNotification(
    { id, type, occurred_at, generic: kind?.generic ?? null },
    {
      object_id: idIn(data.object),
      status: codeIn(data.object.status)?.toLowerCase() ?? null,
      customer_id: idIn(data.object.customer),
      ...kind?.details?.({ id, occurred_at, object: data.object, previous }),
      // Our intents are our account's. What others write into theirs is no claim on a payment of ours.
      ...(account ? { claimed_payment_id: null } : {}),
    },
  )
}

function toProviderNotification(
  event: {
    readonly id: string
    readonly type: string
    readonly occurred_at: string
    readonly generic: string | null
  },
  details: Partial<NotificationDetails>,
): ProviderNotification {
  return {
    provider_event_id: event.id,
    provider_type: event.type,
    generic_type: event.generic,
    occurred_at: event.occurred_at,
    object_id: null,
    amount_cents: null,
    currency: null,
    status: null,
    customer_id: null,
    customer_email: null,
    referenced_payment_id: null,
    report: null,
    subscription: null,
    ...details,
  }
}
