// Puts checkpoints where an insider cannot change them: a directory, an S3-compatible store, or a web hook.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { anySignal } from '@paylog/runtime/anySignal'
import { isLoopback } from '@paylog/runtime/http/networks'
import { replaceFile } from '@paylog/runtime/process/runtimeFile'
import { AwsClient } from 'aws4fetch'
import type { StoredCheckpoint } from './treeStore.ts'

/** @throws Error when it did not work, and the checkpoint has to be published again */
export type Publish = (checkpoint: PublishedCheckpoint, signal: AbortSignal) => Promise<void>
type PublishedCheckpoint = Pick<StoredCheckpoint, 'size' | 'note'> &
  Partial<Pick<StoredCheckpoint, 'earlier'>> & {
    /** False when a newer checkpoint is known: `latest` stays as it is. */
    readonly isLatest?: boolean
  }

/**
 * Reads the newest published checkpoint. Undefined when there is none; null when the target does not show any.
 * @throws Error when the target cannot be reached
 */
export type ReadPublished = (signal: AbortSignal) => Promise<string | null | undefined>

export type S3Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string }

const requestTimeoutMs = 10_000

/** Sorts by size. Never the name of an earlier tree's checkpoint, which proves what was. */
const fileNameOf = ({ size, earlier = 0 }: PublishedCheckpoint) =>
  `checkpoint-${String(size).padStart(12, '0')}${earlier === 0 ? '' : `-${earlier + 1}`}`

const namesOf = (checkpoint: PublishedCheckpoint) => [
  fileNameOf(checkpoint),
  ...(checkpoint.isLatest === false ? [] : ['latest']),
]

/** @param url that `publishingProblem` accepts */
export function createPublish(url: string, credentials: S3Credentials | undefined): Publish {
  const target = new URL(url)
  if (target.protocol === 'file:') return toDirectory(fileURLToPath(target))
  if (target.protocol !== 's3:') return toWebHook(url)
  if (credentials === undefined) throw new Error('An S3-compatible store needs credentials')
  return toS3(target, credentials)
}

/** @param url that `publishingProblem` accepts */
export function createReadPublished(url: string, credentials: S3Credentials | undefined): ReadPublished {
  const target = new URL(url)
  if (target.protocol === 'file:') return async () => readLatestFile(fileURLToPath(target))
  const request = target.protocol === 's3:' && credentials !== undefined ? createS3(target, credentials) : undefined
  return async (signal) => {
    const init = { redirect: 'error', signal: requestSignal(signal) } as const
    const response = await (request === undefined ? fetch(url, init) : request('latest', init))
    const body = await response.text()
    if (response.ok) return body
    // Most web hooks answer no GET, and credentials that may only write objects read none.
    if (response.status < 500 && response.status !== 429) return null
    throw new Error(`The response was ${response.status}`)
  }
}

function readLatestFile(directory: string): string | undefined {
  const file = join(directory, 'latest')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** @returns what is wrong with a URL, as the rest of a sentence */
export function publishingProblem(url: string): string | undefined {
  const { protocol, hostname, pathname, searchParams } = new URL(url)
  if (protocol === 'file:')
    return hostname === '' ? undefined : 'must name a directory of this machine: file:///directory'
  if (protocol === 'http:' && !isLoopback(hostname)) return 'must begin with https://, except on this machine'
  if (protocol !== 's3:') return undefined
  if (hostname === '') return 'must be like s3://bucket/prefix?region=eu-central-1'
  const { region, endpoint } = Object.fromEntries(searchParams)
  if (region === undefined) return 'must name a region: s3://bucket/prefix?region=eu-central-1'
  const isReachable = endpoint === undefined || isEndpoint(endpoint)
  if (!isReachable) return 'must have an endpoint that begins with https://'
  return pathname.includes('//') ? 'must have a prefix without empty parts' : undefined
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** A file per checkpoint, and `latest`. */
function toDirectory(directory: string): Publish {
  return async (checkpoint) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // Postgres may know less about earlier trees than the directory: after a rollback, or when somebody has changed it.
    let { earlier = 0 } = checkpoint
    while (hasAnother(join(directory, fileNameOf({ ...checkpoint, earlier })), checkpoint.note)) earlier++
    for (const name of namesOf({ ...checkpoint, earlier })) replaceFile(join(directory, name), checkpoint.note)
  }
}

const hasAnother = (file: string, note: string) => existsSync(file) && readFileSync(file, 'utf8') !== note

function toWebHook(url: string): Publish {
  return async ({ note }, signal) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: note,
      redirect: 'error',
      signal: requestSignal(signal),
    })
    await requireSuccess(response)
  }
}

const requestSignal = (signal: AbortSignal) => anySignal(signal, AbortSignal.timeout(requestTimeoutMs))

/** An object per checkpoint, and `latest`. */
function toS3(target: URL, credentials: S3Credentials): Publish {
  const request = createS3(target, credentials)
  return async (checkpoint, signal) => {
    const { note } = checkpoint
    const digest = createHash('sha256').update(note)
    const hex = digest.copy().digest('hex')
    for (const name of namesOf(checkpoint)) {
      const response = await request(name, {
        method: 'PUT',
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'x-amz-content-sha256': hex,
          // A bucket with object lock rejects an upload without a checksum.
          'x-amz-checksum-sha256': digest.copy().digest('base64'),
        },
        body: note,
        redirect: 'error',
        signal: requestSignal(signal),
      })
      await requireSuccess(response)
    }
  }
}

/** @returns a function that sends a signed request for an object of this name */
function createS3({ hostname: bucket, pathname, searchParams }: URL, credentials: S3Credentials) {
  const region = searchParams.get('region') ?? ''
  const endpoint = searchParams.get('endpoint')
  const base = endpoint === null ? `https://${bucket}.s3.${region}.amazonaws.com` : `${trimmed(endpoint)}/${bucket}`
  // Its own retries have no limit on their duration; a failed checkpoint is published again in any case.
  const client = new AwsClient({ ...credentials, service: 's3', region, retries: 0 })
  return (name: string, init: RequestInit) => client.fetch(`${base}${trimmed(pathname)}/${name}`, init)
}

const trimmed = (text: string) => text.replace(/\/+$/, '')

async function requireSuccess(response: Response): Promise<void> {
  // Read in any case: an unread body keeps its connection.
  const body = await response.text()
  if (!response.ok) throw new Error(`The response was ${response.status} ${body.slice(0, 200)}`.trim())
}
