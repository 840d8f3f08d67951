// What `npm start` tells a newcomer once everything runs.
import { demoGuestTokens, demoSessions } from '@paylog/identity/sandboxIdentity'
import type { Runtime } from '@paylog/runtime/process/runtimeFile'
import { table } from '@paylog/runtime/process/table'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'
import { isLoopback } from './settings.ts'

export type BannerOptions = {
  readonly runtime: Runtime
  readonly directory: string
  /** Programs beside the system look there when they are told nothing. */
  readonly directoryIsDefault: boolean
  readonly seconds: number
  /** False when the operator's own identity backend is in use: it knows no demo people. */
  readonly demoIdentity: boolean
  /** False when there is no provider that a newcomer could pay with. */
  readonly sandboxProvider: boolean
  readonly endpoints: readonly WebhookEndpoint[]
}

/** Its commands work when they are pasted into another terminal, in the directory of the project. */
export function banner(options: BannerOptions): string {
  const { base_url, parts } = options.runtime
  return [
    '',
    `Paylog runs (started in ${options.seconds.toFixed(1)} s)`,
    '',
    `  API   ${base_url}`,
    `  Docs  ${base_url}/docs`,
    `  Data  ${options.directory} (logs in ${options.directory}/logs)`,
    '',
    table(
      ['part', 'pid', 'address'],
      parts.map(({ name, pid, address }) => [name, String(pid), address || '-']),
    ),
    ...(options.endpoints.length > 0 ? ['', 'Webhook endpoints', '', endpointTable(options.endpoints)] : []),
    ...(options.demoIdentity ? ['', demoTitle(options.runtime), '', credentials()] : []),
    ...firstSteps(options).flatMap(([what, command]) => ['', `${what}:`, '', `  ${command}`]),
    '',
    'Ctrl-C stops everything.',
    '',
    'ready',
  ].join('\n')
}

/** Their addresses are often keys: only what may stand on a terminal is shown. */
function endpointTable(endpoints: readonly WebhookEndpoint[]): string {
  return table(
    ['name', 'url', 'events'],
    endpoints.map((endpoint) => [endpoint.name, redactedUrl(endpoint), endpoint.patterns.join(',')]),
  )
}

/** What to paste, and what it does. */
function firstSteps(options: BannerOptions): (readonly [what: string, command: string])[] {
  const { base_url } = options.runtime
  const session = options.demoIdentity ? (demoSessions[0]?.session_id ?? '') : 'YOUR_SESSION'
  const guest = demoGuestTokens[0]
  const guestToken = options.demoIdentity ? (guest?.token ?? '') : 'YOUR_GUEST_TOKEN'
  const seenByGuest = `curl -s ${base_url}/payments -H 'Authorization: Token ${guestToken}'`
  const seenByUser = `curl -s ${base_url}/payments -H 'Authorization: Bearer ${session}'`
  if (!options.sandboxProvider) {
    return [
      ["A guest's payments", seenByGuest],
      ["A signed-in user's payments", seenByUser],
    ]
  }
  const payment = {
    total_cents: 2200,
    currency: 'EUR',
    provider_id: 'sandbox',
    concept: 'A first payment',
    guest_data: { email: guest?.email ?? 'guest@example.com', name: guest?.name ?? 'Guest', phone: '+34600000000' },
  }
  const where = options.directoryIsDefault ? '' : `DATA_DIR=${shellWord(options.directory)} `
  return [
    [
      'A guest pays 22.00 EUR',
      `curl -s ${base_url}/payments/intents -H 'Content-Type: application/json' -d '${JSON.stringify(payment)}'`,
    ],
    ['The same guest sees that payment', seenByGuest],
    ['A signed-in user sees only their own payments', seenByUser],
    [
      'Settle the payment, with the id from the first answer, and look again',
      `${where}npm run -s ops -- sandbox settle PAYMENT_ID succeeded`,
    ],
  ]
}

function demoTitle({ environment }: Runtime): string {
  const isOpen = !isLoopback(environment.HOST ?? '')
  return isOpen ? 'Demo credentials: everyone who reaches this machine can use them' : 'Demo credentials'
}

/** Quoted where a shell would take it apart. */
function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function credentials(): string {
  return table(
    ['who', 'e-mail', 'header'],
    [
      ...demoSessions.map(({ session_id, user }) => [user.userType, user.email, `Authorization: Bearer ${session_id}`]),
      ...demoGuestTokens.map(({ token, email }) => ['guest', email, `Authorization: Token ${token}`]),
    ],
  )
}
