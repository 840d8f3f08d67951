// Runs the audit commands on a real log with its tree and signed checkpoints. The rows of both can be changed and restored.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLeaf } from '@paylog/audit-log/leaf'
import { newSigningKey, parseSigningKey, parseVerifierKey } from '@paylog/audit-log/note'
import { createMemory, storedSource } from '@paylog/audit-log/remembered'
import { signCheckpoint } from '@paylog/audit-log/signing'
import { readCheckpoints, readTree } from '@paylog/audit-log/treeStore'
import { createTreeWriter, restartTree } from '@paylog/audit-log/treeWriter'
import { readPages } from '@paylog/event-store/read/readPage'
import type { Test } from 'tap'
import { exportHarness } from './exportHarness.ts'
import { runOps } from './runOps.ts'

const origin = 'paylog.test/log'
const tables = ['event_store.events', 'audit.tiles', 'audit.tree', 'audit.checkpoints'] as const

export async function auditHarness(t: Test) {
  const exports = await exportHarness(t)
  const { store, raw, pool, directory, sql, environment: logOnly } = exports
  const { signingKey, verifierKey } = newSigningKey(origin)
  const key = parseSigningKey(signingKey)
  const memory = createMemory({ key, verifiers: [parseVerifierKey(verifierKey)] }, [storedSource(pool)])
  const environment = { ...logOnly, DATABASE_URL: store.databaseUrl, AUDIT_SIGNING_KEY: signingKey }
  const run = (...args: readonly string[]) => runOps(['audit', ...args], environment)

  /** Adds what is new in the log to the tree. */
  async function grow() {
    const writer = createTreeWriter(pool)
    const after = await writer.start()
    for await (const { events } of readPages(raw, { after })) {
      const position = events.at(-1)?.position
      if (position !== undefined) await writer.append({ events: events.filter(isLeaf), position })
    }
    return writer
  }
  return {
    ...exports,
    environment,
    verifierKey,
    origin,
    run,
    grow,
    /** Adds what is new in the log to the tree, and signs it. @returns the size */
    async sign(): Promise<number> {
      await signCheckpoint(pool, await grow(), memory)
      return (await readTree(pool)).size
    },
    /** Builds the tree from the log as it is now, as an insider would who hides a change. */
    async rebuildTree(): Promise<void> {
      await restartTree(pool)
      await grow()
    },
    /** Writes the stored checkpoints to files, as they are published. @returns the directory */
    async publish(name: string): Promise<string> {
      const target = join(directory, name)
      mkdirSync(target, { recursive: true })
      for await (const { size, note } of readCheckpoints(pool)) writeFileSync(join(target, `checkpoint-${size}`), note)
      return target
    },
    /** Keeps a copy of log, tree and checkpoints. @returns a function that restores them */
    async backup(): Promise<() => Promise<void>> {
      for (const table of tables) await sql(`create table "${table}" as table ${table}`)
      const restore = tables.map((table) => `delete from ${table}; insert into ${table} table "${table}";`).join('\n')
      return async () => void (await sql(`begin; ${restore} commit`))
    },
    /** Runs `audit verify`. @returns the exit code and the verdict */
    async verify(...flags: readonly string[]) {
      const { code, stdout, stderr } = await run('verify', '--json', ...flags)
      return { code, verdict: stdout === '' ? stderr : JSON.parse(stdout) }
    },
  }
}
