// `privacy erase`: forgets a person.
import type { Jobs } from '@paylog/administration/jobs/jobs'
import type { ErasureReport, Findings } from '@paylog/administration/privacy/erase'
import { privacyRoutes } from '@paylog/administration/privacy/routes'
import type { Subject } from '@paylog/privacy/dataKeys'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { jobApi } from '../jobApi.ts'
import { flag } from '../options.ts'
import { interrupted } from '../texts.ts'
import { personOptions, personUsage, readPerson, requireKnown, throwUnknown } from './person.ts'

export const privacyErase = defineCommand({
  summary: 'Erase the personal data of a person, for good',
  usage: `${personUsage} [--dry-run] [--reason TEXT] [--json]`,
  options: { ...personOptions, 'dry-run': flag('only lists what would go') },
  audited: 'reason',
  json: 'one object: counts and ids, erasure_id, at_providers, behind, is_complete',
  about: [
    'Destroys the keys that the data is sealed with, deletes the customers and saved methods at the providers, whose',
    'credentials come from its own environment, and waits up to a minute until the projector and the worker have emptied',
    'what they derived. Amounts, times, statuses, our ids and the user id stay.',
    '',
    'It reads the whole log to find what there is. It may be interrupted and repeated: what is left is then done.',
    '`privacy scrub` removes the last traces from the files of Postgres.',
    '',
    'Exits with 1 when something is left to do, and with 3 when nothing is known of the person.',
  ],
  onInterrupt: 'finishes',
  async run(run) {
    const { options, open } = run
    const body = { ...bodyOf(readPerson(options)), dry_run: options['dry-run'] }
    const keys = await open.keys()
    const parts = { keys, store: await open.store(keys), pool: open.pool(), now: () => new Date() }
    const routes = (jobs: Jobs) => privacyRoutes({ ...parts, jobs, openProviders: () => open.jobProviders() })
    const runJob = await jobApi(run, parts.pool, routes)
    const { result, error } = await runJob('/admin/privacy/erasures', body).catch(throwUnknown)
    if (error !== null) throw new OpsError(error)
    if (result === null) throw new OpsError(interrupted)
    const done = result as ErasureReport
    requireKnown(done)
    if (body.dry_run) return { json: done, text: findingsText(done) }
    return { json: done, text: reportText(done), problem: done.is_complete ? undefined : unfinishedText(done) }
  },
})

function bodyOf(subject: Subject) {
  if ('user' in subject) return { user_id: subject.user }
  return 'email' in subject ? { guest_email: subject.email } : { payment_id: subject.payment }
}

function findingsText(findings: Findings): string {
  return ['Nothing is changed. An erasure would remove what is personal in:', ...found(findings)].join('\n')
}

function reportText({ erasure_id, ...done }: ErasureReport): string {
  const first = erasure_id === null ? 'The keys had been destroyed before.' : `Erased (${erasure_id}).`
  return [`${first} It removed what was personal in:`, ...found(done)].join('\n')
}

function found(findings: Findings): readonly string[] {
  const { keys, user_ids, payments, guest_in_payments, payment_methods, addresses, provider_customers } = findings
  const customers = provider_customers.map((each) => `${each.provider_id} ${each.provider_customer_id}`)
  return [
    `  ${keys} keys, of ${user_ids.length === 0 ? 'no user' : `user ${user_ids.join(', ')}`}`,
    `  ${listText(payments, 'payments')}`,
    ...(guest_in_payments.count === 0 ? [] : [`  ${listText(guest_in_payments, 'payments of others, as guest')}`]),
    `  ${listText(payment_methods, 'payment methods')}`,
    `  ${listText(addresses, 'addresses')}`,
    `  ${findings.guest_tokens} guest tokens, ${findings.other_streams} other streams, ${findings.deliveries} deliveries`,
    `  ${customers.length} customers at providers${customers.length === 0 ? '' : `: ${customers.join(', ')}`}`,
  ]
}

const maxShown = 5

function listText({ count, ids }: Findings['payments'], what: string): string {
  if (count === 0) return `0 ${what}`
  const more = count > maxShown ? ', …' : ''
  return `${count} ${what}: ${ids.slice(0, maxShown).join(', ')}${more}`
}

function unfinishedText({ at_providers, behind, user_ids }: ErasureReport): string {
  const left = at_providers.filter(({ outcome }) => outcome !== 'deleted')
  return [
    ...left.map(
      ({ provider_id, provider_customer_id, payment_method_id, outcome, message }) =>
        `NOT REMOVED at ${provider_id}: ${provider_customer_id ?? payment_method_id}, ${outcome}: ${message}`,
    ),
    ...(left.length === 0
      ? []
      : [`Repeat it with ${user_ids.map((id) => `--user ${id}`).join(', ') || 'the same person'}.`]),
    ...(behind.length === 0 ? [] : [`NOT EMPTIED yet: ${behind.join(', ')}. They are as soon as they run.`]),
  ].join('\n')
}
