// Creates and signs the fake Stripe's notifications.
import { createHmac } from 'node:crypto'
import { type SignedEvent, valueAt } from '../fakeServer.ts'
import { apiVersion, stripeId } from './bodies.ts'

export type StripeEvent = {
  readonly id: string
  readonly object: 'event'
  readonly api_version: string
  readonly created: number
  readonly data: { readonly object: object; readonly previous_attributes?: object }
  readonly livemode: false
  readonly pending_webhooks: number
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
  readonly type: string
}

/**
 * @param object the state after the change; copied, so that later changes do not show
 * @param how `created` in Unix seconds; `previous`: the previous values of changed fields; `key` of the call
 */
export function stripeEvent(
  type: string,
  object: object,
  how: { readonly created: number; readonly previous?: object; readonly key?: string | null },
): StripeEvent {
  return {
    id: stripeId('evt'),
    object: 'event',
    api_version: apiVersion,
    created: how.created,
    data: { object: structuredClone(object), ...(how.previous ? { previous_attributes: how.previous } : {}) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: how.key ? stripeId('req') : null, idempotency_key: how.key ?? null },
    type,
  }
}

/** https://docs.stripe.com/api/v2/core/events/object */
export type ThinEvent = {
  readonly id: string
  readonly object: 'v2.core.event'
  readonly type: string
  readonly livemode: false
  readonly created: string
  readonly context: null
  readonly related_object: { readonly id: string; readonly type: string; readonly url: string }
  readonly snapshot_event: string
}

/** The thin event about the same change as a snapshot event. */
export function thinEvent({ id: snapshot_event, type, created, data }: StripeEvent): ThinEvent {
  const [id, kind] = [valueAt(data.object, 'id'), valueAt(data.object, 'object')].map(String)
  return {
    id: stripeId('evt'),
    object: 'v2.core.event',
    type: `v1.${type}`,
    livemode: false,
    created: new Date(created * 1000).toISOString(),
    context: null,
    related_object: { id: `${id}`, type: `${kind}`, url: `/v1/${kind}s/${id}` },
    snapshot_event,
  }
}

/** @param by `secrets`: one signature each, as during a rotation; `at`: the time of the signature */
export function signEvent(
  event: object,
  { secrets, at }: { readonly secrets: readonly string[]; readonly at: Date },
): SignedEvent {
  // With line breaks like Stripe's bodies, so that a receiver that re-serialises them has other bytes.
  const body = JSON.stringify(event, null, 2)
  const t = Math.floor(at.getTime() / 1000)
  const signatures = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`)
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      // Stripe still sends the obsolete scheme v0.
      'stripe-signature': [`t=${t}`, ...signatures, `v0=${'0'.repeat(64)}`].join(','),
    },
    body,
  }
}
