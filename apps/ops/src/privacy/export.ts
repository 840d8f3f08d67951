// `privacy export`: all that is known of a person.
import { deliveriesOfStreams } from '@paylog/deliveries/operations/deliveriesOfStreams'
import { findPerson, type Person } from '@paylog/operator-routes/privacy/erase'
import { readPersonEvents } from '@paylog/operator-routes/privacy/exportPerson'
import { personResources } from '@paylog/operator-routes/privacy/personResources'
import { defineCommand } from '../defineCommand.ts'
import { writeNewFile } from '../files.ts'
import { text } from '../options.ts'
import { scanProgress } from './erase.ts'
import { known, type OpenPrivacy, openPrivacy, personOptions, personUsage, readPerson } from './person.ts'

export const privacyExport = defineCommand({
  summary: 'Write all that is known of a person, as JSON',
  usage: `${personUsage} [--out FILE] [--reason TEXT]`,
  options: { ...personOptions, out: text('FILE', 'a new file that only you can read; standard output without it') },
  audited: 'reason',
  about: [
    'One object: every event of the person with its data, the rows of the read models, the webhook deliveries with what the',
    'endpoints responded, and the customers at the providers. It reads the whole log to find them.',
    '',
    'Exits with 3 when nothing is known of the person.',
  ],
  onInterrupt: 'finishes',
  async run({ options, open, progress, signal, audit }) {
    const subject = readPerson(options)
    const opened = await openPrivacy(open)
    const person = await known(
      findPerson(opened, subject, {
        signal,
        onProgress: (step, scan) => progress.show(scanProgress(step, scan)),
      }),
    )
    await audit(exportDeed(person))
    const content = JSON.stringify(await collect(opened, person), null, 2)
    if (options.out === undefined) return { text: content }
    await writeNewFile(options.out, `${content}\n`)
    return undefined
  },
})

/** Never names an e-mail. */
function exportDeed({ subject, findings: { user_ids, keys } }: Person) {
  const [user] = user_ids
  const target =
    'payment' in subject
      ? { kind: 'payment', id: subject.payment }
      : user === undefined
        ? null
        : { kind: 'user', id: user }
  return { action: 'export_person', target, details: { keys, user_ids } } as const
}

async function collect({ store, pool }: OpenPrivacy, { traces, findings }: Person): Promise<object> {
  const { user_ids, provider_customers } = findings
  return {
    exported_at: new Date().toISOString(),
    user_ids,
    ...(await readPersonEvents(store, traces)),
    read_models: await personResources(pool, traces.streams),
    deliveries: await deliveriesOfStreams(pool, traces.streams),
    provider_customers,
  }
}
