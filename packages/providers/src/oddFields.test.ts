// What a provider has signed is accepted whatever its fields are, as long as it has an id and a type.
import { DomainError } from '@paylog/domain/errors'
import type { ProviderName } from '@paylog/domain/providerEvents'
import t from 'tap'
import { readNotification as readAuthorizeNet } from './authorize-net/notifications.ts'
import { readNotification as readPaypal } from './paypal/notifications.ts'
import type { ProviderNotification } from './provider.ts'
import { readNotification as readSandbox } from './sandbox/notifications.ts'
import { readNotification as readStripe } from './stripe/notifications.ts'

type Json = Readonly<Record<string, unknown>>
type Sample = { readonly required: readonly [id: string, type: string]; readonly events: readonly Json[] }

const readers: Readonly<Record<ProviderName, (body: Buffer) => ProviderNotification>> = {
  stripe: readStripe,
  paypal: readPaypal,
  'authorize-net': readAuthorizeNet,
  sandbox: readSandbox,
}

const created = 1_788_256_800
const time = '2026-09-01T10:00:00.000Z'
const object = { id: 'obj_1', amount: 500, currency: 'eur', status: 'open', customer: 'cus_1' }
const generic = ['payment_intent.succeeded', 'subscription.updated', 'invoice.payment_succeeded', 'customer.deleted']
const genericEvents: Sample = {
  required: ['id', 'type'],
  events: generic.map((type) => ({ id: 'evt_1', type, created, data: { object: { ...object, metadata: {} } } })),
}
const stripeObject = {
  ...object,
  billing_reason: 'subscription_cycle',
  subscription: 'sub_1',
  parent: { subscription_details: { subscription: 'sub_1' } },
  lines: { data: [{ period: { end: created }, parent: { subscription_item_details: { proration: false } } }] },
  items: { data: [{ current_period_end: created }] },
  evidence_details: { due_by: created },
  metadata: { payment_id: 'x' },
}
const stripeTypes = ['invoice.paid', 'customer.subscription.updated', 'charge.dispute.created', 'charge.refunded']
const samples: Readonly<Record<ProviderName, readonly Sample[]>> = {
  stripe: [
    genericEvents,
    {
      required: ['id', 'type'],
      events: [
        ...[...stripeTypes, 'refund.created', 'payment_method.detached', 'customer.updated'].map((type) => {
          const data = { object: stripeObject, previous_attributes: { status: 'incomplete' } }
          return { id: 'evt_1', object: 'event', type, created, account: null, data }
        }),
        {
          id: 'evt_1',
          object: 'v2.core.event',
          type: 'v1.invoice.paid',
          created: time,
          related_object: { id: 'in_1' },
        },
      ],
    },
  ],
  paypal: [
    genericEvents,
    {
      required: ['id', 'event_type'],
      events: ['BILLING.SUBSCRIPTION.UPDATED', 'PAYMENT.CAPTURE.REFUNDED', 'CUSTOMER.DISPUTE.CREATED'].map(
        (event_type) => ({
          ...{ id: 'WH-1', event_type, create_time: time, resource_type: 'refund' },
          resource: {
            ...{ id: 'R1', status: 'ACTIVE', links: [{ rel: 'up', href: 'x' }], custom_id: 'x' },
            billing_info: { next_billing_time: time },
            disputed_transactions: [{ seller_transaction_id: 'C1' }],
            amount: { currency_code: 'USD', value: '5.00' },
          },
        }),
      ),
    },
  ],
  'authorize-net': [
    genericEvents,
    {
      required: ['notificationId', 'eventType'],
      events: [
        'net.authorize.payment.authcapture.created',
        'net.authorize.customer.subscription.updated',
        'net.authorize.customer.deleted',
        'net.authorize.customer.paymentProfile.deleted',
      ].map((eventType) => ({
        ...{ notificationId: 'n1', eventType, eventDate: time },
        payload: {
          ...{ id: '17', responseCode: 1, authAmount: 7.25, amount: 7.25, status: 'active', customerProfileId: '394' },
          ...{ profile: { customerProfileId: 394 }, subscription: { id: '5', payNum: 2 } },
        },
      })),
    },
  ],
  sandbox: [
    genericEvents,
    {
      required: ['id', 'type'],
      events: ['refund.updated', 'dispute.created', 'payment_intent.processing'].map((type) => ({
        ...{ id: 'evt_1', type, created },
        data: {
          object: {
            ...object,
            payment_intent: 'pi_1',
            amount_capturable: 5,
            evidence_due_by: 5,
            metadata: {},
            reason: 'x',
          },
        },
      })),
    },
  ],
}

const odd: readonly unknown[] = [
  undefined,
  null,
  '',
  0,
  -1,
  1.5,
  1e300,
  true,
  'a\u0000b',
  'x'.repeat(300),
  [],
  {},
  [[{}]],
]

type Path = readonly (string | number)[]
/** The paths of all fields and elements. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return []
  const entries = Object.entries(value).map(
    ([key, inner]) => [Array.isArray(value) ? Number(key) : key, inner] as const,
  )
  return entries.flatMap(([key, inner]) => [[...path, key], ...pathsOf(inner, [...path, key])])
}

function changedAt(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to
  if (Array.isArray(value)) return value.map((each, place) => (place === key ? changedAt(each, rest, to) : each))
  return { ...(value as Json), [key]: changedAt((value as Json)[key], rest, to) }
}

for (const [provider, read] of Object.entries(readers))
  t.test(`${provider}: a notification is refused only without an id or a type [6.1-malformed]`, async (t) => {
    const idOf = (event: unknown): string => {
      try {
        return read(Buffer.from(JSON.stringify(event))).provider_event_id
      } catch (error) {
        return error instanceof DomainError ? error.code : String(error)
      }
    }
    const wrong: string[] = []
    for (const { required, events } of samples[provider as ProviderName])
      for (const event of events)
        for (const path of pathsOf(event))
          for (const value of odd) {
            const isRequired = path.length === 1 && required.some((name) => name === path[0])
            // Authorize.Net writes ids as numbers and as text.
            if (isRequired && typeof value === 'number') continue
            const expected = isRequired ? 'invalid_request' : event[required[0]]
            const found = idOf(changedAt(event, path, value))
            if (found !== expected)
              wrong.push(`${event[required[1]]} ${path.join('.')} ${JSON.stringify(value)}: ${found}`)
          }
    t.same(wrong, [])
  })

t.test('a time that is zero, absurd or missing is none, and the event then has the time of its reading', async (t) => {
  const times: readonly unknown[] = [
    undefined,
    null,
    '',
    0,
    -1,
    1e15,
    '0',
    '0001-01-01T00:00:00',
    '1970-01-01T00:00:00Z',
  ]
  const keys = { stripe: 'created', paypal: 'create_time', 'authorize-net': 'eventDate', sandbox: 'created' } as const
  for (const [provider, read] of Object.entries(readers))
    for (const { events } of samples[provider as ProviderName])
      for (const event of events)
        for (const value of times) {
          const before = Date.now()
          const key = 'created' in event ? 'created' : keys[provider as ProviderName]
          const { occurred_at } = read(Buffer.from(JSON.stringify({ ...event, [key]: value })))
          t.ok(Date.parse(occurred_at) >= before, `${provider} ${JSON.stringify(value)} ${occurred_at}`)
        }
  const due = { ...object, charge: 'ch_1', evidence_details: { due_by: 0 } }
  const dispute = { id: 'evt_1', type: 'charge.dispute.created', created, data: { object: due } }
  t.match(readStripe(Buffer.from(JSON.stringify(dispute))).report, { evidence_due_by: null })
})
