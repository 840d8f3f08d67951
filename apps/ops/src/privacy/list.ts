// `privacy list`: the erasures in the log.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { type ErasureRecord, listErasures } from '@paylog/operator-routes/privacy/listErasures'
import { Type } from 'typebox'
import { type CliCommand, readArguments } from '../command.ts'

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) })

export const privacyList: CliCommand = {
  usage: '[--json]',
  summary: 'List the erasures, the newest first',
  details: '  --json  one object per line: id, kind, occurred_at, actor, keys',
  async run(args, { environment, print }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { EVENTSTORE_URL: connectionString } = loadConfig(Config, environment)
    const store = createEventStore({ connectionString, keys: closedKeys })
    try {
      const erasures = await listErasures(store)
      if (erasures.length === 0 && !values.json) await print('Nothing was erased.')
      for (const erasure of erasures) await print(values.json ? JSON.stringify(erasure) : lineOf(erasure))
    } finally {
      await store.close()
    }
  },
}

const lineOf = ({ id, kind, occurred_at, actor, keys }: ErasureRecord) =>
  `${occurred_at}  ${id}  ${kind}  ${keys} keys  by ${actor}`
