// Searches responses, webhooks, logs and events for data that must not be there.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import type { AccessFixture } from './accessFixture.ts'
import type { AccessHarness, ApiResponse, Client } from './accessHarness.ts'
import { seesIdAlone } from './model.ts'
import type { OwnerName } from './people.ts'

const data = /canary\.([a-z0-9]+)\.[a-z0-9._]*/gi
/** Sessions, guest tokens, Idempotency-Keys, secrets in URLs, and card tokens of the provider. */
const credentials = /cred\.[a-z0-9._]+|pm_card_[a-z]+/gi

/** Such data as Postgres prints bytes, in hex. */
const asBytes = new RegExp(`${Buffer.from('canary.').toString('hex')}[0-9a-f]*`, 'gi')

const everything = (text: string) => [data, credentials, asBytes].flatMap((pattern) => text.match(pattern) ?? [])

/** Raw webhooks pass on the text of providers and of simulations unchanged. */
const inProvidersWords = /canary\.[a-z0-9]+\.(notified|simulated)\b/gi
/** Other webhooks contain e-mails of payers only. */
const inSomeWebhook = /canary\.[a-z0-9]+\.(self|notified|simulated)\b/gi

/** What each owner may see: their own data, and the e-mail shared with another. */
const known: Readonly<Record<OwnerName, readonly string[]>> = {
  ada: ['ada', 'shared'],
  grace: ['grace', 'shared'],
  admin: ['admin'],
  g1: ['g1', 'shared'],
  g2: ['g2'],
  anonymous: ['anonymous'],
}

/** A response about one resource may contain one owner's data, and the shared e-mail. */
function ownersOfOne(text: string): readonly string[] {
  const named = [...text.matchAll(data)].map(([, owner = '']) => owner.toLowerCase())
  return [...named.filter((owner) => owner !== 'shared').slice(0, 1), 'shared']
}

/** Data in a response that its caller must not see. The OpenAPI document names sandbox cards as examples. */
export function leaksIn({ caller, request, text, headers, status }: ApiResponse): readonly string[] {
  const whole = `${text}\n${Object.entries(headers).join('\n')}`
  const isSuccess = status < 400 && !seesIdAlone(caller, request.split(' ', 1)[0] ?? '')
  const mayRead = caller.rights.includes('read')
  const seesPayment = mayRead && request.startsWith('GET /admin/payments/')
  const seesProducts = mayRead && request.startsWith('GET /admin/products')
  const own = seesProducts ? known.admin : caller.owner === null ? ['staff'] : known[caller.owner]
  const owners = isSuccess ? (seesPayment ? ownersOfOne(whole) : own) : []
  const seesAll = mayRead && request.startsWith('GET /webhooks/logs')
  const listsPayments = mayRead && /^GET \/admin\/payments(\?|$)/.test(request)
  const exportsLog = caller.rights.includes('export') && /^GET \/admin\/events(\?|$)/.test(request)
  const listsAll = isSuccess && (listsPayments || exportsLog)
  const mayBeSeen = listsAll ? '' : seesAll ? whole.replaceAll(inSomeWebhook, '') : whole
  const foreign = [...mayBeSeen.matchAll(data)].filter(([, owner = '']) => !owners.includes(owner.toLowerCase()))
  const given = request === 'GET /openapi.json' ? [] : (whole.match(credentials) ?? [])
  return [...foreign.map(([found]) => found), ...given]
}

/** Every leak in a response so far, with its request. */
export function leaksInResponses({ responses }: Client): readonly string[] {
  return responses.flatMap((response) =>
    leaksIn(response).map((leak) => `${response.caller.name}: ${response.request}: ${response.status}: ${leak}`),
  )
}

/** Log lines with data of any owner, the caller included. */
export function leaksInLogs({ written }: AccessHarness): readonly string[] {
  return [...written()].flatMap(([app, output]) => leaksInText(output).map((leak) => `${app}: ${leak}`))
}

/** Lines with data of any owner. */
export function leaksInText(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    const leaks = everything(line)
    return leaks.length === 0 ? [] : [`${leaks.join(', ')}: ${line}`]
  })
}

/** Data in webhooks beyond the payer's e-mail and, in raw ones, the provider's text. */
async function leaksInWebhooks(
  { endpoints, databaseUrl }: AccessHarness,
  { payers }: Pick<AccessFixture, 'payers'>,
): Promise<readonly string[]> {
  const payments = await paymentsOf(databaseUrl)
  return Object.entries(endpoints).flatMap(([node, { received }]) =>
    received.flatMap(({ id, body, headers }) => {
      const { event = '', data: webhookData = {} } = JSON.parse(body) as WebhookBody
      // A test names no recorded payment. Chat messages contain its id in their text.
      const tested = [...payers.keys()].find((payment) => body.includes(`Payment: ${payment}`))
      const payer = payers.get(webhookData.payment_id ?? payments.get(id) ?? tested ?? '')?.toLowerCase()
      const unpaid = payer === undefined ? body : body.toLowerCase().replaceAll(payer, '')
      const allowed = event.includes(':') ? unpaid.replaceAll(inProvidersWords, '') : unpaid
      const leaks = everything(`${allowed}\n${JSON.stringify(headers)}`)
      return leaks.map((leak) => `${node}: ${leak}: ${body}`)
    }),
  )
}

/** Chat messages have neither field. */
type WebhookBody = { readonly event?: string; readonly data?: { readonly payment_id?: string | null } }

/** The payment of each webhook, by webhook id. */
async function paymentsOf(databaseUrl: string): Promise<ReadonlyMap<string, string | null>> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'leaks', max: 1, log })
  try {
    const { rows } = await pool.query<{ id: string; payment_id: string | null }>(
      'select id, payment_id from webhooks.all_deliveries',
    )
    return new Map(rows.map(({ id, payment_id }) => [id, payment_id]))
  } finally {
    await pool.end()
  }
}

/** Credentials in the event log, and personal data in stream names or metadata. */
async function leaksInEventLog({ store }: AccessHarness): Promise<readonly string[]> {
  const leaks: string[] = []
  for await (const { event } of store.client.readAll()) {
    if (event === undefined || event.streamId.startsWith('$')) continue
    const { streamId, type, data: content, metadata } = event
    const found = [
      ...everything(`${streamId} ${JSON.stringify(metadata)}`),
      ...(JSON.stringify(content).match(credentials) ?? []),
    ]
    leaks.push(...found.map((leak) => `${streamId} ${type}: ${leak}`))
  }
  return leaks
}

/**
 * Waits until every payment has its webhooks, then asserts that responses, logs, webhooks and events contain no leak.
 * Also asserts that every app has written a log.
 */
export async function assertNoLeaks(
  t: Test,
  system: AccessHarness,
  client: Client,
  fixture: Pick<AccessFixture, 'payers'>,
): Promise<void> {
  const { canonical } = system.endpoints
  const isDelivered = (id: string) => canonical.received.some(({ body }) => body.includes(id))
  await waitFor(() => [...fixture.payers.keys()].every(isDelivered), { what: 'the webhooks', timeoutMs: 20_000 })
  for (const [app, output] of system.written()) t.match(output, `"app":"${app}"`, `${app} writes a log`)
  t.same(leaksInResponses(client), [], 'no response contains data of another owner or a credential')
  t.same(leaksInLogs(system), [], 'no log line contains data or credentials')
  t.same(await leaksInWebhooks(system, fixture), [], 'no webhook contains more than the e-mail of the payer')
  t.same(await leaksInEventLog(system), [], 'no event contains a credential')
}
