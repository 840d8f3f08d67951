// Where the demo credentials may be used. They are published, and one of them is an administrator's.
import type { Settings } from './settings.ts'

/** Whether only this machine can reach it. Names other than localhost are not resolved: they may change. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Without AUTH_URL the demo credentials are valid for everyone who can reach the API.
 * @param live the providers with live credentials
 * @returns one sentence if these settings must not start, beginning with the variable's name
 */
export function demoProblems(settings: Settings, live: readonly string[]): readonly string[] {
  const { HOST: host, AUTH_URL: authUrl, ALLOW_DEMO_CREDENTIALS: isAllowed } = settings
  if (authUrl !== undefined) return []
  if (live.length > 0)
    return [`AUTH_URL is required beside live credentials (${live.join(', ')}): the demo credentials are published`]
  if (isLoopback(host) || isAllowed) return []
  return [
    'AUTH_URL is required when HOST is not of this machine alone: others could use the published demo credentials; ' +
      'set ALLOW_DEMO_CREDENTIALS=true to let them',
  ]
}
