// What webhook endpoints are told in this world, and whose entry of the log each of it is.

import { createPool } from '@paylog/runtime/postgres/postgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import type { AccessHarness } from './accessSystem.ts'
import { type ApiResponse, type Client, dataOf } from './client.ts'
import type { Thing } from './model.ts'
import { ada, admin, anonymous, type Caller, canary, emailOf, grace, type OwnerName } from './people.ts'
import type { AccessFixture } from './world.ts'

type Delivery = { readonly id: string; readonly node: string; readonly stream: string; readonly revision: number }

/**
 * A payment of each owner is paid, everybody who may tries the endpoints out, and all of it is delivered or given up.
 * @returns every entry that the log must have, with whose it is
 */
export async function createWebhookFixture(
  system: AccessHarness,
  client: Client,
  world: AccessFixture,
): Promise<readonly Thing[]> {
  const owners = new Map<string, OwnerName>()
  for (const { id, owner } of world.things.payment) if (owner !== null) owners.set(`payment-${id}`, owner)
  for (const owner of ['ada', 'grace', 'admin', 'g1', 'g2', 'anonymous'] as const) {
    const event = `evt_${owner}`
    await notify(system, client, event, { ...paymentOf(client, owner), note: canary(owner, 'notified') })
    owners.set(`providerEvent-sandbox:${event}`, owner)
  }
  for (const caller of [ada, grace, admin])
    for (const asked of await testWebhooks(client, world, caller))
      owners.set(`webhookTest-${asked}`, caller.owner ?? 'anonymous')
  const deliveries = await settled(system, world)
  return deliveries.map(({ id, node, stream, revision }) => ({
    id,
    name: `about ${stream}@${revision} to ${node}`,
    // Of what came from a provider it is not known yet whose it is.
    owner: stream.startsWith('providerEvent-') && revision === 0 ? 'anonymous' : (owners.get(stream) ?? null),
  }))
}

/** The object of the notification that the first payment of an owner is paid. */
function paymentOf({ answers }: Client, owner: OwnerName): object {
  const opened = answers.find(
    ({ caller, asked, status }) => caller.owner === owner && asked === 'POST /payments/intents' && status === 201,
  )
  if (opened === undefined) throw new Error(`${owner} has no payment`)
  const { provider_intent_id: id, amount_cents: amount } = dataOf(opened)
  return { id, amount, currency: 'eur', status: 'succeeded', customer: null }
}

async function notify(system: AccessHarness, { ask }: Client, id: string, object: object): Promise<void> {
  const event = { id, type: 'payment_intent.succeeded', data: { object } }
  const { status, text } = await ask(anonymous, 'POST', '/webhooks/sandbox', system.notification(event))
  if (status !== 200) throw new Error(`the receiver: ${status}: ${text}`)
}

/** A canonical event, a generic one, and a provider's own. @returns the ids of what was asked for */
async function testWebhooks({ ask }: Client, { payers }: AccessFixture, caller: Caller): Promise<string[]> {
  const owner = caller.owner === 'ada' || caller.owner === 'grace' ? caller.owner : 'admin'
  const note = canary(owner, 'simulated')
  const test_data = { id: `test-of-${owner}`, amount: 1200, currency: 'EUR', note }
  payers.set(test_data.id, emailOf[owner])
  const answers = [
    await ask(caller, 'POST', '/webhooks/test', { body: { event: 'payment.succeeded', test_data } }),
    await ask(caller, 'POST', '/webhooks/test', { body: { event: 'payment_intent.succeeded', test_data } }),
    await ask(caller, 'POST', '/webhooks/external/simulate', {
      body: { event: 'customer.created', provider: 'stripe', payload: { id: `cus_${owner}`, note } },
    }),
  ]
  return answers.map(requestedId)
}

function requestedId(answer: ApiResponse): string {
  if (answer.status !== 202) throw new Error(`${answer.asked}: ${answer.status} ${answer.text}`)
  return String(dataOf(answer).id)
}

/** Waits until all endpoints were told of all that concerns them, or do not get it any more. */
async function settled(
  { endpoints, databaseUrl }: AccessHarness,
  { payers }: AccessFixture,
): Promise<readonly Delivery[]> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'settled', max: 1, log })
  const everybody = [...payers.keys()]
  const isDelivered = (id: string) => endpoints.canonical.received.some(({ body }) => body.includes(id))
  const isPaid = () => endpoints.legacy.received.length >= 12
  const read = async () => {
    const { rows } = await pool.query<Delivery & { isPending: boolean }>(
      `select id, node, source_stream as stream, source_revision::integer as revision, status = 'pending' as "isPending"
       from webhooks.deliveries`,
    )
    return rows
  }
  try {
    await waitFor(
      async () => everybody.every(isDelivered) && isPaid() && (await read()).every(({ isPending }) => !isPending),
      { what: 'the webhooks', timeoutMs: 30_000 },
    )
    return await read()
  } finally {
    await pool.end()
  }
}
