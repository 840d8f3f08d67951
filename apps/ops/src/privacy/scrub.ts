// `privacy scrub`: removes the traces of erased data from the files of Postgres.
import { type Scrubbed, scrub } from '@paylog/privacy/scrub'
import { defineCommand } from '../defineCommand.ts'
import { count, withDefault } from '../options.ts'

export const privacyScrub = defineCommand({
  summary: 'Remove the traces of erased data from the files of Postgres',
  options: { 'max-mb': withDefault(count('N', 'leaves tables that are larger', { min: 0 }), 1_024) },
  json: 'one object: tables, skipped, is_wal_clean, is_complete',
  about: [
    'Postgres keeps old versions of rows, statistics of columns and its write-ahead log on disk for a while. This rewrites all',
    'tables but those of the log, which holds personal data sealed only, and begins another file of the write-ahead log.',
    '',
    'Each table is locked while it is rewritten, a second for about 100 MB. A table that is in use for longer than 3 s is left.',
    'Run it after erasures, when little is going on. Exits with 1 when something was left: the next run does it.',
  ],
  onInterrupt: 'finishes',
  async run({ options, open, signal }) {
    const done = await scrub(open.pool({ max: 1 }), { maxTableBytes: options['max-mb'] * 2 ** 20, signal })
    const is_complete = done.skipped.length === 0 && done.is_wal_clean
    return {
      json: { ...done, is_complete },
      text: text(done),
      problem: is_complete ? undefined : 'Something was left. Run the command again.',
    }
  },
})

const text = ({ tables, skipped, is_wal_clean }: Scrubbed) =>
  [
    `${tables.length} tables rewritten.`,
    ...skipped.map(({ table, because }) => `Left ${table}: ${because}.`),
    is_wal_clean
      ? 'The write-ahead log begins after that.'
      : 'The write-ahead log was left: the role of DATABASE_URL needs pg_checkpoint (grant pg_checkpoint to …).',
  ].join('\n')
