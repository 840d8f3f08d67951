// `privacy scrub`: removes the traces of erased data from the files of Postgres.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { type Scrubbed, scrub } from '@paylog/privacy/scrub'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments, readCount } from '../command.ts'
import { opsPool } from '../database.ts'
import { withInterrupt } from '../withInterrupt.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })
const defaultMaxMb = 1_024

export const privacyScrub: CliCommand = {
  usage: '[--max-mb N] [--json]',
  summary: 'Remove the traces of erased data from the files of Postgres',
  details: [
    `  --max-mb N  leaves tables that are larger (default ${defaultMaxMb})`,
    '  --json      one object: tables, skipped, is_wal_clean, is_complete',
    '',
    'Postgres keeps old versions of rows, statistics of columns and its write-ahead log on disk for a while. This rewrites all',
    'tables but those of the log, which holds personal data sealed only, and begins another file of the write-ahead log.',
    '',
    'Each table is locked while it is rewritten, a second for about 100 MB. A table that is in use for longer than 3 s is left.',
    'Run it after erasures, when little is going on. Exits with 1 when something was left: the next run does it.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { 'max-mb': { type: 'string' }, json: { type: 'boolean' } })
    const maxTableBytes = (readCount('--max-mb', values['max-mb'], 0) ?? defaultMaxMb) * 2 ** 20
    const { DATABASE_URL } = loadConfig(Config, environment)
    const { pool } = opsPool(DATABASE_URL, { max: 1, errors })
    try {
      const done = await withInterrupt(errors, (signal) => scrub(pool, { maxTableBytes, signal }))
      const isComplete = done.skipped.length === 0 && done.is_wal_clean
      await print(values.json ? JSON.stringify({ ...done, is_complete: isComplete }) : text(done))
      if (!isComplete) throw new OpsError('Something was left. Run the command again.')
    } finally {
      await pool.end()
    }
  },
}

const text = ({ tables, skipped, is_wal_clean }: Scrubbed) =>
  [
    `${tables.length} tables rewritten.`,
    ...skipped.map(({ table, because }) => `Left ${table}: ${because}.`),
    is_wal_clean
      ? 'The write-ahead log begins after that.'
      : 'The write-ahead log was left: the role of DATABASE_URL needs pg_checkpoint (grant pg_checkpoint to …).',
  ].join('\n')
