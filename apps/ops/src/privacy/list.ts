// `privacy list`: the erasures in the log.

import { type Erasure, listErasures } from '@paylog/administration/privacy/listErasures'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { defineCommand } from '../defineCommand.ts'

export const privacyList = defineCommand({
  summary: 'List the erasures, the newest first',
  json: 'one object per line: id, kind, occurred_at, actor, keys',
  async run({ open, isJson, print }) {
    const erasures = await listErasures(await open.store(closedKeys))
    if (erasures.length === 0 && !isJson) await print('Nothing was erased.')
    for (const erasure of erasures) await print(isJson ? JSON.stringify(erasure) : lineOf(erasure))
  },
})

const lineOf = ({ id, kind, occurred_at, actor, keys }: Erasure) =>
  `${occurred_at}  ${id}  ${kind}  ${keys} keys  by ${actor}`
