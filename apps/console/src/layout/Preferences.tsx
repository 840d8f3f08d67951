// What a reader chooses for all pages: the zone of times.
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { Zone } from '../format/time.ts'

type Preferences = { readonly zone: Zone; readonly setZone: (zone: Zone) => void }

const PreferencesContext = createContext<Preferences>({ zone: 'local', setZone: () => undefined })
const storageKey = 'paylog.zone'

export const usePreferences = (): Preferences => useContext(PreferencesContext)

export function PreferencesProvider({ children }: { readonly children: ReactNode }) {
  const [zone, setZone] = useState<Zone>(() => (localStorage.getItem(storageKey) === 'utc' ? 'utc' : 'local'))
  const value = useMemo(
    () => ({
      zone,
      setZone(chosen: Zone) {
        localStorage.setItem(storageKey, chosen)
        setZone(chosen)
      },
    }),
    [zone],
  )
  return <PreferencesContext value={value}>{children}</PreferencesContext>
}
