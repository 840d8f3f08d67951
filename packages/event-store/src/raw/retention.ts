// Why an event may have left the log: a server's scavenge takes away what its stream has let go of.
import type { RawClient } from './rawClient.ts'
import { type RawEvent, tombstoneRevision } from './rawEvent.ts'
import { readStreamMetadata, readStreamPage } from './rawRead.ts'

/** Whether a stream has let go of its events, and how: asked of its metadata as it is now. */
export type Retention = 'closed' | 'deleted' | 'truncated' | 'kept'

/**
 * `deleted` streams may come back, `closed` ones never. `truncated` is what lies before the beginning that a stream was
 * given, or may be beyond the number or the age that its metadata allows.
 * @throws LogUnusableError
 */
export async function readRetention(
  client: RawClient,
  { stream, revision }: Pick<RawEvent, 'stream' | 'revision'>,
): Promise<Retention> {
  if ((await readStreamPage(client, stream, 0n, 1)) === 'closed') return 'closed'
  const metadata = parseMetadata((await readStreamMetadata(client, stream))?.data)
  // The largest number of a server is none that JavaScript can hold; the one next to it says the same here.
  const truncateBefore = numberOf(metadata, '$tb')
  if (truncateBefore >= Number(tombstoneRevision)) return 'deleted'
  const isLimited = numberOf(metadata, '$maxCount') > 0 || numberOf(metadata, '$maxAge') > 0
  return Number(revision) < truncateBefore || isLimited ? 'truncated' : 'kept'
}

function parseMetadata(data: Uint8Array | undefined): unknown {
  try {
    return data && JSON.parse(Buffer.from(data).toString())
  } catch {
    // Metadata that is not JSON is no metadata.
    return undefined
  }
}

function numberOf(metadata: unknown, name: string): number {
  const value: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, name) : undefined
  return typeof value === 'number' ? value : 0
}
