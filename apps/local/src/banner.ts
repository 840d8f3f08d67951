// The text that `npm start` prints when everything runs.
import { demoConsoleFragment, demoGuestTokens, demoSessions } from '@paylog/identity/sandboxIdentity'
import { isLoopback } from '@paylog/runtime/http/networks'
import type { Runtime } from '@paylog/runtime/process/runtimeFile'
import { table } from '@paylog/runtime/process/table'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'

export type BannerOptions = {
  readonly runtime: Runtime
  readonly directory: string
  /** `ops` commands use the default directory without DATA_DIR. */
  readonly directoryIsDefault: boolean
  readonly seconds: number
  /** False with an AUTH_URL: the demo credentials are unknown there. */
  readonly demoIdentity: boolean
  readonly sandboxProvider: boolean
  readonly endpoints: readonly WebhookEndpoint[]
}

/** The printed commands work when pasted into another terminal in the project directory. */
export function banner(options: BannerOptions): string {
  const { base_url, parts } = options.runtime
  return [
    '',
    `Paylog is running (started in ${options.seconds.toFixed(1)} s)`,
    '',
    `  Start    ${base_url}/`,
    `  API      ${base_url}`,
    `  Console  ${consoleUrl(options)}`,
    `  Docs     ${base_url}/docs`,
    `  Data     ${options.directory} (logs in ${options.directory}/logs)`,
    '',
    table(
      ['process', 'pid', 'address'],
      parts.map(({ name, pid, address }) => [name, String(pid), address || '-']),
    ),
    ...(options.endpoints.length > 0 ? ['', 'Webhook endpoints', '', endpointTable(options.endpoints)] : []),
    ...(options.demoIdentity ? ['', demoTitle(options.runtime), '', credentials()] : []),
    ...firstSteps(options).flatMap(([title, command]) => ['', `${title}:`, '', `  ${command}`]),
    '',
    'Ctrl-C stops everything.',
    '',
    'ready',
  ].join('\n')
}

const consoleUrl = ({ runtime, demoIdentity }: BannerOptions) =>
  `${runtime.base_url}/console${demoIdentity ? demoConsoleFragment : ''}`

/** Webhook URLs often contain a secret, so that only the part safe to print is shown. */
function endpointTable(endpoints: readonly WebhookEndpoint[]): string {
  return table(
    ['name', 'url', 'events'],
    endpoints.map((endpoint) => [endpoint.name, redactedUrl(endpoint), endpoint.patterns.join(',')]),
  )
}

function firstSteps(options: BannerOptions): (readonly [title: string, command: string])[] {
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
    ['The guest lists their payments', seenByGuest],
    ['A signed-in user does not see it', seenByUser],
    [
      'Settle the payment with the id from the first response, then list it again',
      `${where}npm run -s ops -- sandbox settle PAYMENT_ID succeeded`,
    ],
  ]
}

function demoTitle({ environment }: Runtime): string {
  const isOpen = !isLoopback(environment.HOST ?? '')
  return isOpen ? 'Demo credentials: anyone who can reach this machine can use them' : 'Demo credentials'
}

/** Single quotes around text with characters that a shell would interpret. */
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
