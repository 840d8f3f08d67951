// Looks for what must not be where it is: people's data in others' answers, and anything at all in logs.

import { createPool } from '@paylog/runtime/postgres/postgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import type { AccessFixture } from './accessFixture.ts'
import type { AccessHarness, ApiResponse, Client } from './accessHarness.ts'
import { seesIdAlone } from './model.ts'
import type { OwnerName } from './people.ts'

const data = /canary\.([a-z0-9]+)\.[a-z0-9._]*/gi
/** Sessions, guest tokens, Idempotency-Keys, secret parts of URLs, and what stands for a card at the provider. */
const credentials = /cred\.[a-z0-9._]+|pm_card_[a-z]+/gi

/** The beginning of such data as Postgres shows bytes. */
const asBytes = new RegExp(`${Buffer.from('canary.').toString('hex')}[0-9a-f]*`, 'gi')

const everything = (text: string) => [data, credentials, asBytes].flatMap((pattern) => text.match(pattern) ?? [])

/** What providers write goes to raw endpoints as it came, and so does what somebody simulates. */
const inProvidersWords = /canary\.[a-z0-9]+\.(notified|simulated)\b/gi
/** Beside that only e-mails of payers. */
const inSomeWebhook = /canary\.[a-z0-9]+\.(self|notified|simulated)\b/gi

/** Whose data each may see: his own, and the e-mail that he has in common with another. */
const known: Readonly<Record<OwnerName, readonly string[]>> = {
  ada: ['ada', 'shared'],
  grace: ['grace', 'shared'],
  admin: ['admin'],
  g1: ['g1', 'shared'],
  g2: ['g2'],
  anonymous: ['anonymous'],
}

/** Who may be in an answer about one thing, whoever that is of: one owner, and the e-mail that two have in common. */
function ownersOfOne(text: string): readonly string[] {
  const named = [...text.matchAll(data)].map(([, owner = '']) => owner.toLowerCase())
  return [...named.filter((owner) => owner !== 'shared').slice(0, 1), 'shared']
}

/** What an answer holds that is not for who got it. The document of the API names cards of the sandbox as examples. */
export function leaksIn({ caller, asked, text, headers, status }: ApiResponse): readonly string[] {
  const whole = `${text}\n${Object.entries(headers).join('\n')}`
  const isAnswered = caller.owner !== null && status < 400 && !seesIdAlone(caller, asked.split(' ', 1)[0] ?? '')
  const seesPayment = caller.standing === 'administrator' && asked.startsWith('GET /admin/payments/')
  const owners = isAnswered ? (seesPayment ? ownersOfOne(whole) : known[caller.owner]) : []
  const seesAll = caller.standing === 'administrator' && asked.startsWith('GET /webhooks/logs')
  const mayBeSeen = seesAll ? whole.replaceAll(inSomeWebhook, '') : whole
  const foreign = [...mayBeSeen.matchAll(data)].filter(([, owner = '']) => !owners.includes(owner.toLowerCase()))
  const given = asked === 'GET /openapi.json' ? [] : (whole.match(credentials) ?? [])
  return [...foreign.map(([found]) => found), ...given]
}

/** Every leak into an answer so far, with the request that shows it. */
export function leaksInResponses({ answers }: Client): readonly string[] {
  return answers.flatMap((answer) =>
    leaksIn(answer).map((leak) => `${answer.caller.name}: ${answer.asked}: ${answer.status}: ${leak}`),
  )
}

/** Lines of logs that hold anything of anybody, their owner's own requests included. */
export function leaksInLogs({ written }: AccessHarness): readonly string[] {
  return [...written()].flatMap(([app, output]) => leaksInText(output).map((leak) => `${app}: ${leak}`))
}

/** Lines that hold anything of anybody. */
export function leaksInText(output: string): readonly string[] {
  return output.split('\n').flatMap((line) => {
    const leaks = everything(line)
    return leaks.length === 0 ? [] : [`${leaks.join(', ')}: ${line}`]
  })
}

/** What endpoints were sent beside the e-mail of a payment's own payer, and to raw ones beside the provider's own text. */
async function leaksInWebhooks(
  { endpoints, databaseUrl }: AccessHarness,
  { payers }: Pick<AccessFixture, 'payers'>,
): Promise<readonly string[]> {
  const payments = await paymentsOf(databaseUrl)
  return Object.entries(endpoints).flatMap(([node, { received }]) =>
    received.flatMap(({ id, body, headers }) => {
      const { event = '', data: about = {} } = JSON.parse(body) as WebhookBody
      // A test is recorded under no payment, and a chat is told the id of it in words.
      const tested = [...payers.keys()].find((payment) => body.includes(`Payment: ${payment}`))
      const payer = payers.get(about.payment_id ?? payments.get(id) ?? tested ?? '')?.toLowerCase()
      const unpaid = payer === undefined ? body : body.toLowerCase().replaceAll(payer, '')
      const allowed = event.includes(':') ? unpaid.replaceAll(inProvidersWords, '') : unpaid
      const leaks = everything(`${allowed}\n${JSON.stringify(headers)}`)
      return leaks.map((leak) => `${node}: ${leak}: ${body}`)
    }),
  )
}

/** As far as a body says what it is about; messages to a chat do not. */
type WebhookBody = { readonly event?: string; readonly data?: { readonly payment_id?: string | null } }

/** The payment that each webhook is about, by the webhook's id. */
async function paymentsOf(databaseUrl: string): Promise<ReadonlyMap<string, string | null>> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'leaks', max: 1, log })
  try {
    const { rows } = await pool.query<{ id: string; payment_id: string | null }>(
      'select id, payment_id from webhooks.deliveries',
    )
    return new Map(rows.map(({ id, payment_id }) => [id, payment_id]))
  } finally {
    await pool.end()
  }
}

/** Credentials in the event log, and people's data where names and metadata of events show it. */
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

/** All four, once everybody was told of every payment; and that there was something to look at. */
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
  t.same(leaksInResponses(client), [], 'no answer holds anything of another, and none a credential')
  t.same(leaksInLogs(system), [], 'no line of a log holds data or credentials')
  t.same(await leaksInWebhooks(system, fixture), [], 'no webhook tells more than the e-mail of the payer')
  t.same(await leaksInEventLog(system), [], 'the event log holds no credential')
}
