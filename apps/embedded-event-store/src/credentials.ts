// Who may call: HTTP Basic credentials in the metadata of a call, as EventStoreDB takes them.
import { hash, timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'

/** Whether a call comes with one of the credentials. */
export type Admits = (metadata: Metadata) => boolean

/** @param credentials `user:password` each; none lets everybody in */
export function createAdmission(credentials: readonly string[]): Admits {
  if (credentials.length === 0) return () => true
  const known = credentials.map((credential) => digestOf(`Basic ${Buffer.from(credential).toString('base64')}`))
  return (metadata) => {
    const given = digestOf(String(metadata.get('authorization')[0]))
    return known.some((digest) => timingSafeEqual(digest, given))
  }
}

/** Of equal length whatever is given, so that comparing takes the same time. Some microseconds for each call. */
const digestOf = (header: string) => hash('sha256', header, 'buffer')
