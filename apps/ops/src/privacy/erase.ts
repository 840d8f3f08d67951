// `privacy erase`: forgets a person.
import { randomUUIDv7 } from 'node:crypto'
import {
  type EraseStep,
  type ErasureReport,
  erasePerson,
  erasureAction,
  type Findings,
  findPerson,
} from '@paylog/administration/privacy/erase'
import type { ScanProgress } from '@paylog/administration/privacy/personTraces'
import { operatorMetadata } from '../auditTrail.ts'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { known, openPrivacy, personOptions, personUsage, readPerson } from './person.ts'

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
  async run({ options, open, progress, signal, audit }) {
    const subject = readPerson(options)
    const opened = await openPrivacy(open)
    const onProgress = (step: EraseStep, scan: ScanProgress | undefined) => progress.show(scanProgress(step, scan))
    const person = await known(findPerson(opened, subject, { signal, onProgress }))
    if (options['dry-run']) return { json: { dry_run: true, ...person.findings }, text: findingsText(person.findings) }
    const erasureId = randomUUIDv7()
    const metadata = operatorMetadata()
    await audit(erasureAction(erasureId, person), metadata)
    const done = await erasePerson(opened, person, { erasureId, metadata, signal, onProgress })
    return {
      json: { dry_run: false, ...done },
      text: reportText(done),
      problem: done.is_complete ? undefined : unfinishedText(done),
    }
  },
})

export const scanProgress = (step: string, scan: ScanProgress | undefined) =>
  scan === undefined ? { step } : { step, done: scan.events, unit: 'events' }

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
