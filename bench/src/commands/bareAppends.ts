// The minimal service on the same event store: a Fastify route that validates the session over HTTP and appends two events.
import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { connectionString } from '@paylog/event-store/connection/connectionString'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, url } from '@paylog/runtime/config/kinds'
import { runApp } from '@paylog/runtime/process/lifecycle'
import Fastify from 'fastify'
import { type Static, Type } from 'typebox'
import { Pool } from 'undici'

/** As many as command-api has to the identity backend. */
const maxConnections = 64

const OrderBody = Type.Object({
  total_cents: Type.Integer({ minimum: 1 }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
})

const BareAppendsConfig = Type.Object({
  PORT: port(),
  EVENTSTORE_URL: connectionString(),
  AUTH_URL: url(['http', 'https']),
})

/** With the fields that Paylog records of a payment, so that events have about the same size. */
const facts = (payment_id: string, amount_cents: number, currency: string) => ({
  payment_id,
  occurred_at: new Date().toISOString(),
  provider_id: 'sandbox',
  amount_cents,
  currency,
  payer: { id: '00000000-0000-4000-8000-000000000001', type: 'user', email: 'user@example.com' },
  project_id: null,
})
const details = {
  subtotal_cents: 2200,
  tax_cents: 0,
  discount_cents: 0,
  concept: null,
  description: null,
  reference_code: null,
  category: null,
  tags: null,
  payment_method_id: null,
  provider_method: null,
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  expires_at: null,
  is_guest_payment: false,
  guest_email: null,
  guest_name: null,
  guest_phone: null,
  metadata: {},
  request_fingerprint: null,
}

runApp('bare-appends', async ({ lifecycle }) => {
  const config = loadConfig(BareAppendsConfig)
  const client = EventStoreDBClient.connectionString(config.EVENTSTORE_URL)
  lifecycle.add('event store', () => client.dispose())
  const identity = new Pool(config.AUTH_URL, { connections: maxConnections })
  lifecycle.add('identity', () => identity.close())

  async function isValid(authorization = ''): Promise<boolean> {
    const response = await identity.request({
      path: '/auth/session/validate',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: authorization.replace(/^Bearer /, '') }),
    })
    const { success } = (await response.body.json()) as { readonly success?: boolean }
    return success === true
  }

  const http = Fastify()
  http.post<{ Body: Static<typeof OrderBody> }>('/orders', { schema: { body: OrderBody } }, async (request, reply) => {
    if (!(await isValid(request.headers.authorization))) return reply.code(401).send({ success: false })
    const { total_cents, currency } = request.body
    const id = randomUUID()
    const metadata = { $correlationId: request.id, $causationId: request.id, actor: 'session' }
    const created = facts(id, total_cents, currency)
    const first = jsonEvent({ type: 'BareCreated', data: { ...created, ...details }, metadata })
    await client.appendToStream(`bare-${id}`, first, { expectedRevision: NO_STREAM })
    const data = { ...facts(id, total_cents, currency), provider_intent_id: `pi_${id}`, client_secret: id, attempt: 1 }
    const second = jsonEvent({ type: 'BareConfirmed', data, metadata })
    await client.appendToStream(`bare-${id}`, second, { expectedRevision: 0n })
    return reply.code(201).send({ id, total_cents, currency, status: 'pending', created_at: created.occurred_at })
  })
  lifecycle.add('http', () => http.close())
  return { url: await http.listen({ port: config.PORT, host: '127.0.0.1' }) }
})
