// What jobs say: which attempts to make. First attempts share jobs, because a queue's price is per job.
import type { AttemptRef } from '../tables/deliveries.ts'

/** `isTest`: somebody tries his endpoints out, and whatever is real goes first. */
export type QueuedAttempt = AttemptRef & { readonly delayMs: number; readonly isTest?: boolean }

/** Attempts of one node that have the same number. */
export type JobData = { readonly attempt: number; readonly deliveryIds: readonly string[] }

/** In BullMQ a job with a priority comes after all jobs without one, in whatever order they were added. */
const testPriority = 1

/** A job is held until the last of its attempts has ended, and whoever holds it may die. */
const maxAttemptsPerJob = 50

/** The job's id: with it a second job for the same attempt is none. */
export function jobId({ deliveryId, attempt }: AttemptRef): string {
  return `${deliveryId}-${attempt}`
}

export function attemptsOf({ attempt, deliveryIds }: JobData): AttemptRef[] {
  return deliveryIds.map((deliveryId) => ({ deliveryId, attempt }))
}

/** A job of its own, under an id that says which attempt it is for. */
export function singleJob(
  { deliveryId, attempt, delayMs, isTest = false }: QueuedAttempt,
  id = jobId({ deliveryId, attempt }),
) {
  return job({ attempt, deliveryIds: [deliveryId] }, id, { delay: delayMs, ...(isTest && { priority: testPriority }) })
}

/** Jobs for the first attempts of these deliveries. The id of a shared one tells nothing of all but the first. */
export function sharedJobs(deliveryIds: readonly string[]) {
  const jobs: ReturnType<typeof job>[] = []
  for (let from = 0; from < deliveryIds.length; from += maxAttemptsPerJob) {
    const some = deliveryIds.slice(from, from + maxAttemptsPerJob)
    const id = jobId({ deliveryId: some[0] ?? '', attempt: 1 })
    jobs.push(
      job({ attempt: 1, deliveryIds: some }, some.length === 1 ? id : `${id}-shared-by-${some.length}`, { delay: 0 }),
    )
  }
  return jobs
}

export type NewJob = ReturnType<typeof job>

function job(data: JobData, jobId: string, when: { readonly delay: number; readonly priority?: number }) {
  // Finished jobs leave nothing behind: a kept one would make its id unusable, and the table has the history.
  return { name: 'attempt', data, opts: { jobId, ...when, removeOnComplete: true, removeOnFail: true } }
}
