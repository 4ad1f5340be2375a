package reports
import ("testing";"os";"fmt")
func TestLook(t *testing.T) {
	m:=sampleManifest()
	for i, n := range []int{100,300} {
	r := scene{threeArms, 100, n, mixedClasses}.write(t, t.TempDir(), m)
	b,_ := os.ReadFile(r.Dir+"/bench.txt"); os.WriteFile(fmt.Sprintf("/tmp/tgr/b%d.txt", i), b, 0644)
	}
}
