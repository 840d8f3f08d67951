// Room: local. What `npm start` tells a newcomer once everything runs.
import { demoGuestTokens, demoSessions } from '@paylog/identity/demoCredentials'
import type { Runtime } from '@paylog/ops/runtimeFile'
import { table } from '@paylog/ops/table'

/** @param options `demoIdentity` is false when the operator's own identity backend is in use: it knows no demo people */
export function banner(options: {
  readonly runtime: Runtime
  readonly directory: string
  readonly seconds: number
  readonly demoIdentity: boolean
  readonly settleCommand: string
}): string {
  const { base_url, parts } = options.runtime
  const session = options.demoIdentity ? (demoSessions[0]?.session_id ?? '') : '<SESSION_ID>'
  const guest = demoGuestTokens[0]
  const guestToken = options.demoIdentity ? (guest?.token ?? '') : '<GUEST_TOKEN>'
  const payment = {
    total_cents: 2200,
    currency: 'EUR',
    provider_id: 'sandbox',
    concept: 'A first payment',
    guest_data: { email: guest?.email ?? 'guest@example.com', name: guest?.name ?? 'Guest', phone: '+34600000000' },
  }
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
    ...(options.demoIdentity ? ['', 'Demo credentials', '', credentials()] : []),
    '',
    'A guest pays 22.00 EUR:',
    '',
    `  curl -s ${base_url}/payments/intents -H 'Content-Type: application/json' -d '${JSON.stringify(payment)}'`,
    '',
    'The same guest sees that payment:',
    '',
    `  curl -s ${base_url}/payments -H 'Authorization: Token ${guestToken}'`,
    '',
    'A signed-in user sees only their own payments, so far none:',
    '',
    `  curl -s ${base_url}/payments -H 'Authorization: Bearer ${session}'`,
    '',
    'Settle the payment, with the id from the first answer, and look again:',
    '',
    `  ${options.settleCommand}`,
    '',
    'Ctrl-C stops everything.',
    '',
    'ready',
  ].join('\n')
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
