// `privacy rotate`: wraps the keys of personal data with another master key.

import { openLookupHash } from '@paylog/privacy/lookupSecret'
import { masterKeysOf } from '@paylog/privacy/masterKeys'
import { countOutdated, rotateKeys } from '@paylog/privacy/rotateKeys'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { Type } from 'typebox'
import { defineCommand } from '../defineCommand.ts'
import { interrupted } from '../texts.ts'

export const privacyRotate = defineCommand({
  summary: 'Wrap all keys of personal data with the first key of PII_MASTER_KEY',
  json: 'one object: complete, master_key (its first 8 hex digits of SHA-256), rewrapped',
  about: [
    'PII_MASTER_KEY holds the new and the old master keys, separated by commas, the new one first. Every process needs both',
    'before this begins. Afterwards the old ones open nothing and can be removed. The data itself is not touched.',
    '',
    'It may run beside all processes, and may be interrupted and repeated at any time. Exits with 1 when it was interrupted.',
  ],
  onInterrupt: 'finishes',
  async run({ environment, open, progress, signal }) {
    const masterKeys = masterKeysOf(loadConfig(Type.Object(dataKeyVariables), environment).PII_MASTER_KEY)
    const pool = open.pool()
    await openLookupHash(pool, masterKeys)
    const of = await countOutdated(pool, masterKeys)
    const onProgress = (done: number) => progress.show({ step: 'Rotating', done, of, unit: 'keys' })
    const { rewrapped, isComplete } = await rotateKeys(pool, masterKeys, { signal, onProgress })
    const [{ id }] = masterKeys
    return {
      json: { complete: isComplete, master_key: id, rewrapped },
      text: `${rewrapped} rows are wrapped with master key ${id} now.${isComplete ? ' It wraps all keys.' : ''}`,
      problem: isComplete ? undefined : interrupted,
    }
  },
})
