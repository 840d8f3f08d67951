// Authentication: HTTP Basic credentials in the metadata of a call, as in EventStoreDB.
import { hash, timingSafeEqual } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'

/** Whether a call has valid credentials. */
export type Admits = (metadata: Metadata) => boolean

/** @param credentials `user:password` each; without any, every call is admitted */
export function createAdmission(credentials: readonly string[]): Admits {
  if (credentials.length === 0) return () => true
  const known = credentials.map((credential) => digestOf(`Basic ${Buffer.from(credential).toString('base64')}`))
  return (metadata) => {
    const given = digestOf(String(metadata.get('authorization')[0]))
    return known.some((digest) => timingSafeEqual(digest, given))
  }
}

/** Hashed to equal length for a constant-time comparison; takes some microseconds per call. */
const digestOf = (header: string) => hash('sha256', header, 'buffer')
