// What surrounds every page: theme, data, preferences, session and router.
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { queryClient } from './api/queryClient.ts'
import { PreferencesProvider } from './layout/Preferences.tsx'
import { styleNonce } from './layout/styleNonce.ts'
import { theme } from './layout/theme.ts'
import { router } from './router.tsx'
import { OfferedSession } from './session/OfferedSession.tsx'
import { SessionGate } from './session/SessionGate.tsx'

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queryClient}>
        <PreferencesProvider>
          <SessionGate>
            <RouterProvider router={router} />
          </SessionGate>
          <OfferedSession />
        </PreferencesProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}
