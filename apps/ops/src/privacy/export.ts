// `privacy export`: all that is known of a person.
import { open, rm } from 'node:fs/promises'
import { deliveriesOfStreams } from '@paylog/deliveries/operations/deliveriesOfStreams'
import { findPerson, type Person } from '@paylog/operator-routes/privacy/erase'
import { readPersonEvents } from '@paylog/operator-routes/privacy/exportPerson'
import { personResources } from '@paylog/operator-routes/privacy/personResources'
import { auditOn, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { createProgress } from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { progressText } from './erase.ts'
import {
  explained,
  type OpenPrivacy,
  openPrivacy,
  personHelp,
  personOptions,
  personUsage,
  readPerson,
} from './person.ts'

export const privacyExport: CliCommand = {
  usage: `${personUsage} [--out FILE] [--reason TEXT]`,
  summary: 'Write all that is known of a person, as JSON',
  details: [
    ...personHelp,
    '  --out FILE     a new file that only you can read; standard output without it',
    reasonHelp,
    '',
    'One object: every event of the person with its data, the rows of the read models, the webhook deliveries with what the',
    'endpoints responded, and the customers at the providers. It reads the whole log to find them.',
    '',
    'Exits with 3 when nothing is known of the person.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { ...personOptions, ...reasonOption, out: { type: 'string' } })
    const subject = readPerson(values)
    const reason = readAuditReason(values.reason)
    const opened = await openPrivacy(environment, errors)
    const progress = createProgress(errors, progressText)
    try {
      await withInterrupt(errors, async (signal) => {
        const person = await explained(
          findPerson(opened, subject, {
            signal,
            onProgress: (phase, scan) => progress.show({ phase, events: scan?.events ?? 0 }),
          }),
        )
        progress.end()
        await explained(auditOn(opened.store, reason, exportDeed(person)))
        const text = JSON.stringify(await explained(collect(opened, person)), null, 2)
        if (values.out === undefined) await print(text)
        else await writePrivateFile(values.out, `${text}\n`)
      })
    } finally {
      progress.end()
      await opened.close()
    }
  },
}

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

/** @throws OpsError */
async function writePrivateFile(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new OpsError(`${path} cannot be written: ${error instanceof Error ? error.message : error}`, { cause: error })
  })
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
