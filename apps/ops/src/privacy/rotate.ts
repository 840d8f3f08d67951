// `privacy rotate`: wraps the keys of personal data with another master key.
import { loadConfig } from '@paylog/config/environment'
import { openLookupHash } from '@paylog/privacy/lookupSecret'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { countOutdated, rotateKeys } from '@paylog/privacy/rotateKeys'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { opsPool } from '../database.ts'
import { type CliProgressOutput, createProgress, createProgressBar } from '../progress.ts'
import { withInterrupt } from '../withInterrupt.ts'

const Config = Type.Object(dataKeyVariables)

export const privacyRotate: CliCommand = {
  usage: '[--json]',
  summary: 'Wrap all keys of personal data with the first key of PII_MASTER_KEY',
  details: [
    '  --json  one object: complete, master_key (its first 8 hex digits of SHA-256), rewrapped',
    '',
    'PII_MASTER_KEY holds the new and the old master keys, separated by commas, the new one first. Every process needs both',
    'before this begins. Afterwards the old ones open nothing and can be removed. The data itself is not touched.',
    '',
    'It may run beside all processes, and may be interrupted and repeated at any time. Exits with 1 when it was interrupted.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const config = loadConfig(Config, environment)
    const masterKeys = masterKeysOf(config.PII_MASTER_KEY)
    const { pool } = opsPool(config.DATABASE_URL, { max: 2, errors })
    const progress = createProgress(errors, rotationText(errors))
    try {
      await openLookupHash(pool, masterKeys)
      const total = await countOutdated(pool, masterKeys)
      const onProgress = (rewrapped: number) => progress.show({ phase: 'rotating', rewrapped, total })
      const { rewrapped, isComplete } = await withInterrupt(errors, (signal) =>
        rotateKeys(pool, masterKeys, { signal, onProgress }),
      )
      progress.end()
      const [{ id }] = masterKeys
      const all = isComplete ? ' It wraps all keys.' : ''
      const text = `${rewrapped} rows are wrapped with master key ${id} now.${all}`
      await print(values.json ? JSON.stringify({ complete: isComplete, master_key: id, rewrapped }) : text)
      if (!isComplete) throw new OpsError('Interrupted. Run the command again for the rest.')
    } finally {
      progress.end()
      await pool.end()
    }
  },
}

type Rotating = { readonly phase: 'rotating'; readonly rewrapped: number; readonly total: number }

function rotationText(output: CliProgressOutput): (state: Rotating) => string {
  const bar = createProgressBar(output)
  return ({ rewrapped, total }) => {
    const part = total === 0 ? 1 : Math.min(rewrapped / total, 1)
    return `${bar(part)}${Math.floor(part * 100)} %, ${rewrapped} of ${total} keys`
  }
}
